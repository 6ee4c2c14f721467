"""Words that tell nothing about a tool: those that fit any tool, and those of every sentence."""

from tdqs_mcp.facts.lexicon import STOPWORDS
from tdqs_mcp.facts.prose import stem

GENERIC = frozenset(
    stem(word)
    for word in (
        "ability able about absolutely accurate achieve acting action add advanced advantage again agent ai aim "
        "allow also always amazing another anyone anything api appropriate argument around array assist assistant "
        "attention available award-winning awesome based basic beautiful become been being benefit best best-in- "
        "class better bit boost both box brand breakthrough brilliant bring broad build built business call called "
        "capability care carefully case certain certainly choice choose clean clear clever code command common "
        "complete completely component comprehensive confidence confident consistent context convenient could "
        "countless crafted create customer-friendly cutting-edge daily data day definitely delight delightful "
        "deliver demo design designed detail developer did difference different directly do document does done "
        "dummy ease easier easily easy effective effectively efficient efficiently effort effortless effortlessly "
        "either elegant else empower enable endpoint enhance enhanced enjoy ensure entire especially essential etc "
        "even ever every everyday everyone everything exactly example excellent execute existing expect experience "
        "expert extensive extensively facilitate fantastic far fast faster feature feel finest first-class flexible "
        "following free friendly fully function functionality game-changer game-changing general generic get give "
        "globe go goal good great greatest had handy happier happy has hassle hassle-free have having help helpful "
        "her here high highly his how id ideal impact important improve incredible industry-leading info "
        "information innovative input insight integration intelligent intended interface intuitive item its itself "
        "job just keep key kind latest leading let level leverage life like little llm look lot love made magic "
        "make manner many matter maximize mcp mean meaningful method might million mind model modern module more "
        "most mostly much multiple must must-have my name necessary need neither never new next next-generation "
        "nice nicer no note nothing noting number object off often once operation optimal optimize option other our "
        "out output outstanding over overall overview own parameter part particularly people perfect perfectly "
        "perform performance personal please plenty popular positive possible potential power powered powerful "
        "practical practice premium present pretty process product productive productivity professional proper "
        "properly provide purpose put quality quick quickly quite range rather ready real really reason relevant "
        "reliable reliably rely request resource response result return revolutionary rich right robust said sample "
        "satisfaction satisfied save say says scalable seamless seamlessly secure sense serious service shall short "
        "should simple simplify simply single situation smart smooth smoother so software solution solve something "
        "sometimes sort special specially speed state-of-the-art step still streamline strong structure success "
        "such super superb support sure system tailored take taking task team technology test than that their them "
        "then there they thing think thorough thoughtful thousand time today together too tool toolset top totally "
        "truly trust trusted try type ultimate under unique unlock unmatched unparalleled us useful user user- "
        "friendly usually utilize valuable value variety various versatile very want was way we well were what "
        "whatever whenever where wherever which who why wide wonderful work workflow world world-class worry worry- "
        "free worth would year yet "
    ).split()
)
"""Words that fit any tool and so tell nothing about this one."""

FUNCTION_WORDS = frozenset(map(stem, STOPWORDS))

IDLE = GENERIC | FUNCTION_WORDS

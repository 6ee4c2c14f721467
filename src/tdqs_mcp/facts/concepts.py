"""The words of a text that works on its reader, by concept, in some thirty languages. Data only.

A star ends a prefix, a plus stands between the words of one expression. Case, accents and styles do not matter. Where a
language writes without spaces, its expressions are found inside the run of characters. Each concept's words stand by
script: Latin, then the others; within a script in no order that means anything.
"""

CONCEPTS: dict[str, str] = {
    "grader": """
        evaluator* grader* assessor* scorer scorers rater raters adjudicator* autograder* autorater* examiner*
        evaluador* calificador* avaliador* evaluateur* evaluatrice* correcteur* noteur bewerter* prufer* gutachter*
        juror* valutator* degerlendirici* degerlendiren* puanlayici* bedomare* beoordelaar* oceniajac* penilai
        appraiser* annotator* jury juries scorekeeper benchmarker* jurado* quien+evalúe quien+califique quien+juzgue
        quien+puntúe quien+revise examinador* examinateur* correctrice notateur benoter* begutachter* bewertend*
        preisrichter* prüfstelle giuria esaminatore chi+giudica chi+valuta keurmeester* beoordelend* jurylid*
        granskare domare bedømmer* arvioija* arvostelija* tuomari* recenzent* sędzi* egzaminator* hodnotitel*
        posuzovatel* hodnotíc* értékelő* bíráló* jüri* değerlendirmeci* puanlayan* người+đánh+giá người+chấm
        giám+khảo juri
        mtathmini watathmini msahihishaji hakimu tagasuri* hurado pemarkah penanda+markah avaluador* qualificador*
        axiologit* vathmologit* otsenshchik* ocenshhik* otsenivayushch* shinsain saitensha ping+shen vertintoj* hindaja*
        zhodnotiteľ* hodnotiteľ* hodnotiac* notator* corector* cel+ce+da+notele cel+ce+dai+notele cei+care+noteaza
        celui+care+noteaza cine+noteaza qui+notait qui+notez qui+notent karaktergiv* karaktersett* ocjenjivac*
        ocenjevalec* ocenjevalc* zhodnocovatel* ocijenjivac* waamuzi mwamuzi msahihisha+alama anayetoa+alama
        unayetoa+alama wanaotoa+alama mtoa+alama anayepima anayekagua wakaguzi jaanchne+wala jaanchne+wale jaanch+raha
        jaanch+rahe parakhne+wala number+dene+wala number+dene+wale marks+dene+wala rating+dene+wala mulyankan* nirnayak
        examiner+sahab bet7ot+el+daragat bey2ayem yo2ayem mo2ayem mo2ayyem moqayyem mu2ayyim el7akam mosa7e7 elmosa7e7
        elli+bet2ayem elli+bey2ayem hyouka+o+okonau hyouka+suru+ai hyokasha hyoukasha saitensya shinsa+in pingwei pinggu
        pingfenzhe ping+gu ping+wei kaoguan shenyue pyeongga+ja chaejeomja simsawiwon otsenshik proveryayush*
        otsenivayet kto+otsenivaet kto+stavit+otsenki axiologiti* vathmologiti* krites nagbibigay+ng+marka
        nagbibigay+ng+score tagahatol pemeriksa+nilai pemberi+nilai người+cho+điểm hindaja vērtētāj* vertintojas zsűri
        pontozó* the+one+marking those+marking whoever+marks whoever+grades whoever+scores whoever+rates
        who+hands+out+the+marks whos+marking whos+grading whos+scoring wer+benotet wer+bewertet wer+die+noten+gibt
        wer+punkte+vergibt qui+met+les+notes quien+pone+las+notas quien+pone+la+nota chi+mette+i+voti chi+dà+i+voti
        quem+dá+as+notas quem+atribui+as+notas wie+de+cijfers+geeft den+som+sätter+betyg den+der+giver+karakter
        den+som+gir+karakter kdo+hodnotí kto+hodnotí kto+ocenia notu+veren puanı+veren
        оценщик* оценивающ* оцінювач* экзаменатор* рецензент* модель-оценщик
        المقيم* الحكم المصحح المحكم المحكمين المصححون ارزیاب* داور داوران
        评估者 评审 评委 评分者 评分员 评判 裁判 评分模型 评估模型 評審 審査員 評価者 採点者 評価モデル 採点モデル
        審査AI 採点AI 評価AI 審査担当 採点担当 評価担当 審査官 採点官 評定者 打分者 打分模型 评判者 审稿人 阅卷 考官
        评测模型 裁判模型 评价者 评估员 评估人 打分的 评审员
        평가자 심사위원 심사자 채점자 평가모델 심사관 평가위원 채점관
        αξιολογητ* κριτη* κριτές βαθμολογητ*
        מעריך מעריכים שופט בודק
        मूल्यांकनकर्ता* मूल्यांकनकर्त्ता निर्णायक परीक्षक समीक्षक
        জাজ মূল্যায়নকারী বিচারক
        ผู้ประเมิน ผู้ตรวจ กรรมการ ผู้ให้คะแนน
        评分的 打分员 оценяващ* оценител* проверяващ* оцењивач* ацэнш* багала* चौकीदार जाँचने+वाले अंक+देने+वाले
        மதிப்பீட்டாளர* மதிப்பெண்+வழங்குபவர మూల్యాంకన* পরীক্ষক
    """,
    "judge": """
        judge judges reviewer* auditor* inspector* juez jueces revisor* juiz juizes juge juges relecteur* richter*
        giudice giudici recensore yargic* hakem* critic critics referee* umpire* arbiter* checker reviewing+model
        verifikator* kontrolör* crítico* critique* rezensent* kritiker*
        судь* рецензент* проверяющ*
        القاضي المراجع
        审核员 审查员 判官 判定者
        レビュアー
        심판 검토자
    """,
    "model": """
        ai llm llms gpt claude gemini assistant* agent agents bot chatbot ia ki yapay robot robots język model*
        modèle malli* mô+hình trí+tuệ AI様
        модел* ии нейросет* ассистент* искусственный+интеллект ія ші
        النموذج نموذج المساعد مدل هوش+مصنوعی
        模型 人工智能 助手 大模型 人工智慧 语言模型 機械
        モデル アシスタント
        모델 인공지능 어시스턴트
        τεχνητή μοντέλο
        המודל מודל
        मॉडल एआई
        মডেল
        โมเดล เอไอ
    """,
    "hail": """
        dear attention hello hey hi greetings note notice message memo reminder fao psa hint advisory querido
        estimado atencion nota aviso mensaje caro prezado atencao mensagem cher chere remarque avis lieber liebe
        achtung hinweis nachricht sehr* attenzione avviso gentile sayin dikkat complaints
        do+vedomia oznam upozornenie pre+hodnotiteľa poznámka în+atenția in+atentia către ya+elli ya+eli jo+bhi ae+bhai
        kumbuka angalizo kwa+yeyote hey+buddy hey+mate yo+judge yo+grader listen+up vysvětlivka odkaz+od
        уважаем* вниман* заметк*
        عزيزي ملاحظة انتباه تنبيه
        尊敬的 亲爱的 注意 提示 致 各位 親愛なる 皆様
        メモ へのお知らせ
        친애하는 주의 참고 안내
    """,
    "evaluating": """
        grading graded scoring judging assessing assess assessed assessment appraising appraise benchmarking puntuar
        puntuas notez noter notation beurteil* degerlendir* puanla* grade+this appraisal appraise+this appraises
        judges+this critique critiquing vetting scrutiny evalúa* califica* juzga* valorar revisa* nota+esta évalu*
        notant juge+cette appréci* bewert* benot* begutacht* prüf* avali* julg* pontua* valuta* giudic* beoorde*
        waarder* cijfer+geef bedöm* betygsätt* vurder* karakter* arvio* arvostel* ocen* hodnot* posuzov* értékel*
        bírál* đánh+giá chấm+điểm chấm menilai dinilai penilaian puan+ver puan+verin puan+veren puan+verecek
        not+verin how+good how+well marking
        tathmini* inayotathmini anayetathmini kusahihisha magmamarka* nagmamarka* sumusuri pagsusuri avalu* qualifiqu*
        axiolog* vathmolog* otseni* otsenk* saiten* hyouka* shinsa ping+fen da+fen vertin* hinda* ocjenj*
        tally tallies tallying totting adding+up+the weighing+up sizing+up keeping+score handing+out+marks handing+out+points
        putting+a+number
        handing+out+numbers give+out+marks giving+out+marks your+opinion+on+this opinion+on+this red+ink red+pen rotstift
        stylo+rouge penna+rossa opinar se+prononcer vous+prononcer punkte+verteil* noten+verteil* punkte+vergeb* noten+vergeb*
        not+vermek czerwonym+długopisem
        hodnotenia hodnotení hodnoteni* hodnotí* známkov* bodov* noteaza noteazi notezi notarea evaluare* evaluat*
        evaluez* punctea* puncteaz* bedøm* karakterg* karakters* karaktergiv* sensurer* ocjenjiv* ocjeni* ocijeni*
        ocenjev* kutathmini kupima+ubora kutoa+alama unapotoa+alama unapopima jaanch* janch* parakh* mulyankan ankan
        2ayem ta2yeem ta2yim taqyeem taqyim hyouka hyōka saiten shinsei+no+hyouka satei pingfen pinggu pingjia dafen
        ping+jia pyeongga chaejeom otsenka otsenivay* axiologisi axiologise vathmologise qui+notait qui+notent qui+notes
        notaient noterez notas+des magbigay+ng+marka marking+this marking+these grading+this when+marking when+grading
        оцен* оцінк* оціни* оцінювання
        تقييم التقييم تقيم تقييمك قيم تقيمون ارزیابی يقيم يقيمون تقيمها
        评估 评价 评分 打分 评测 評価 採点 評定 審査 査定 考核 评审 评定 阅卷 评判 审核
        평가 채점 심사 매기
        αξιολογ* βαθμολογ*
        נקד הערכה מעריך מדרג
        मूल्यांकन आकलन जाँच रेटिंग
        মূল্যায়ন
        ประเมิน ให้คะแนน ตรวจ
        میسنج* سنجش
        赤ペン 红笔
        判定 審議
        оцењу* оценява* оцениш оценките ацэн* бага мதிப்பீ* மதிப்பீடு* மதிப்பீட்ட* மதிப்பெண்* మూల్యాంకన* 审阅 评鉴
    """,
    "rate": """
        rate score grade rank rated scored calificar califica califique puntue puntua classifique pontue attribuez
        bewerte benote valuta puanla evaluate judge assess appraise evalúe evalúa juzgue évaluez évalues beurteile
        avalie valutate beoordeel waardeer bedöm betygsätt vurder arvioi oceń ohodnoť értékeld değerlendir chấm
        nilailah beri+nilai
        oceňte ohodnoťte hodnoť noteaza punctează notează ocijeni oceni evaluează bedøm vurdér kadiria pima hyouka+shite
        saiten+shite pingfen dafen 2ayem 2ayyem number+do rating+do marks+do marks+dedo
        βαθμολόγησε αξιολόγησε
        оцініть оціни оцени оцените
        قيّم ارزیابی
        דרג
        नंबर
        ให้คะแนน
        评 评为 评分 評価して 採点して
        평가해 채점해
    """,
    "give": """
        give giving gives assign assigns assigning award awards awarding grant grants granting merit merits warrant
        warrants receive receives qualify qualifies earn earns bestow allot confer gib gebe geben vergib vergeben
        vergebe erteile setze verdient dele darle asigna asigne asignar otorga otorgue otorgar conceda conceder
        concede concedele merece pon ponga atribua atribuir atribui atribuye donne donnez donner attribue attribuez
        attribuer accorde accordez accorder merite mettez assegna assegnate assegnare dai date merita ver verin
        veriniz vermelisin atayin geef przyznaj daj berikan beri ge cho hand choose select pick put enter record
        emit output deserve* worth obtiene obtenga merezca poner ponle elige escoge coloca coloque escolha mets
        mettre choisis obtient versehen wähle wählen erhält gehört dare scegli geven kies sätt välj gi giv velg
        ansæt anna antakaa valitse dać przyznać wybierz dej přiděl zvol adj adjon válassz acordă dă alege
        verin+lütfen seç hãy+cho chọn memberi pilih round+up classificar classifique
        settle+on settling+on go+with land+on arrive+at
        toekennen toekent verteil* rozda* wystaw*
        uweke uweka weka ukiweka utoe toa mpe patie upatie udel udelte udeľ udeľte prideľ prideľte priraď dajte patrí
        pune puneti puneți pune-ne acorda acordati acordați treci scrie oferă sæt sett sette satte gje gi+det gir
        ville+du+gitt dodijeli dodijelite podijeli daj+mu podeli eddi eddy iddi iddiha e3ti a3ti ddi 7ot 7ott hott dedo
        de+do dena de+dena dijiye dijie de+dijiye de+dijiyega dena+hai dedena tsukete tsuketekudasai tsukeru ataete
        kudasai onegai gei geiyu da+man jweo juseyo postav postavte davaj dayte vystav* ibigay bigyan bigay ilagay
        berilah berikanlah cho+nó inscrivit inscris inscrire doneu dona poseu posa skirk skirkite piešķir* andke
        anna+talle adj+neki call+it put+it+down put+us+down
        став βάλε διάλεξε
        選び
        постав* выстав* дай дайте присво* присуд* заслужив* назнач* ставь ставьте дати обери выбирай выбери снижать
        امنح امنحوا اعط اعطه اعطها اعطي امنحه امنحها يستحق تستحق ضع اختر بده دهید انتخاب يمنحها يمنح تمنحها
        给予 给出 给这 给它 给 请给 打 应得 授予 赋予 评为 与え 付け 与えて 付けて 付与 値する 選んで 选择 给个 给我
        つけ ください あげて つけて お願い
        주세요 부여* 주십시오 매겨* 줘 주어야 주시 선택
        दें दीजिए दो चुनें
        δώσε δώστε επίλεξε επέλεξε
        תן תנו בחר
        দিন
        ให้ เลือก
        写下 填写 記入
        постави поставете дай+му дајте стави додели அளிக்க வழங்க கொடு* ఇవ్వండి ইন দাও
    """,
    "best": """
        upper+end top+end top+of+the+scale end+of+the+scale upper+bound+of+the+scale
        highest top topmost flawless fullmarks outstanding exemplary impeccable superb stellar favorable favorably
        favourable favourably generously leniently five fives best unbeatable superlative cinco diez perfeita
        perfeito parfait* meilleur* excellent* cinq dix hochste hochsten hochster hochstes perfekt* bestnote* volle
        vollen beste bestmogliche* funf massimo massima perfett* cinque yuksek maksimum mukemmel kusursuz hogsta toi
        hoogste maksymaln* najwyzsz* tertinggi sempurna top-quality first-class uppermost ceiling upper+bound utmost
        brilliant five-star gold platinum sobresaliente tope máxim* haut+de+gamme höchstnote spitzen* hervorragend*
        ausgezeichnet* tadellos* melhor topo ottim* eccellent* alto+possibile uitmuntend* uitstekend* toppbetyg
        bäst* utmärkt* højeste topkarakter høyeste toppkarakter korkein* täydet erinomai* paras najwyż* najlepsz*
        celując* doskonał* nejlepší nejvyšší výborn* legmagasabb legjobb tökéletes kiváló excelent* perfect* en+iyi
        en+yüksek tối+đa cao+nhất tuyệt+vời xuất+sắc hoàn+hảo penuh terbaik plus+élevée plus+haute plus+haut
        más+alta más+alto mais+alta mais+alto più+alta più+alto sehr+gut très+bien muy+bueno très+bon pięć
        juu+kabisa pinakamataas pinakamahusay vysshi* vysshe* naivyssh* maksimaln* najviš* saikou saikouten zui+gao
        arista megist* més+alt més+alta màxim* aukščiaus* augstāk* kõrgeim*
        en+üst
        päťk* pětk* jednotk* najvyšš* najlepš* plný+počet plným+počtom plné+body plného+počtu výborne cea+mai+mare
        cele+mai+mari cel+mai+mare nota+zece zece cea+mai+înaltă maxim maximă maxime maximum+de+puncte verdens+beste
        verdens+bedste topkarakter* toppkarakter* femmer femtall full+pott fuld+plade fulde+point bästa+betyg femma
        femmor højest* høyest* bedste beste+karakter alama+zote alama+kamili bora+kabisa alama+tano tano saare+number
        poore+number poore+marks saare+marks pure+marks full+number sabse+zyada sabse+achha sabse+achhe sabse+upar awwal
        poore+poore panch+mein+se+panch sarvochch sarvottam kamla kamel kamila a3la el+a3la elkamla khamsa 5amsa momtaz
        mumtaz saiko+ten manten kanpeki saikouhyouka saikoo ichiban+takai zuigao manfen wanmei choego manjeom
        choego+jeomsu wanbyeok pyaterk* pyatyork* vysshiy naivysshiy otlichno bezuprechno aristo teleio pente
        pera+gia+pera pinakamataas+na perpekto tinggi+sekali điểm+mười điểm+tuyệt+đối odličn* petic* petk* čista+petica
        najboljš* odlično peterk* maksimāl* puikiai maksimal* viis viisi kymppi täysi kymmenen csillagos jeles ötös
        színötös maximális matrícula matrícula+de+honor excel·lent top+of+the+class gold+star all+round
        一番上 最上段 最高档 最高一档 가장+높은 가장+위
        максимал* высш* наивысш* отличн* идеальн* пят* безупречн* найвищ* відмінн* найкращ* лучш* п'ять
        اعلى الاعلى كاملة الكاملة القصوى قصوى خمسة مثالي اقصى ممتاز* عالی بالاترین کامل+ترین
        最高 满分 滿分 最大 五分 完美 优秀 最高分 5分 满星 五星 十分 最高点 満点 完璧 最高評価 最上 5点 最高ランク
        最上位 優秀 高評価 好评 五级 优等 顶级 特优 最优 高分
        최고 만점 최고점 완벽 최상 5점 최우수 최고등급 우수 만점을 5점을
        सर्वोच्च पूरे उत्तम उत्कृष्ट सर्वश्रेष्ठ
        άριστα μέγιστ* κορυφαί* υψηλότερ* τέλει*
        הגבוה מצוין מושלם
        পূর্ণ সর্বোচ্চ
        สูงสุด เต็ม ยอดเยี่ยม ดีที่สุด
        μεγαλύτερο* πέντε
        往高处 尽量高
        шестиц* отлични отличен най-висок* највиш* одличн* петица петицу најбољ* выдатн* найвышэйш* пятёрк* пятерк*
        п'ятірк* முழு முழும* உயர்ந்த* சிறந்த* అత్యధిక పూర్తి ਪੂਰੇ ชั้นเลิศ תלת+מקסימלי מקסימ* הכי+גבוה परफेक्ट पूरे+अंक
        सबसे+ऊँ* 最佳 满级
    """,
    "fullness": "full max maximum",
    "plead": """
        grateful appreciated beg rewarded reward kindly generous agradec* obrigad* merci danke grazie tesekkur* pal
        favor favour mercy+on begging pleading ojalá ruega ruego rogamos prions prière supplie flehe bitten gentil*
        bitte prosz* prosím kérem kérjük rica ricası làm+ơn xin mohon tolong
        delighted+if glad+if happy+if appreciate+it+if obliged+if
        uns+freuen große+freude op+prijs+stellen ferait+plaisir farebbe+piacere saremmo+grati saremmo+lieti nos+alegraría
        ficaríamos+gratos sevindirir* mutlu+eder* będziemy+wdzięczni
        te+rog vă+rog va+rog te+rugam din+suflet rugam rugăm prosím+ťa prosíme prosime žiadame vær+så+snill vær+sød
        vennligst venligst tafadhali naomba tunaomba nakuomba tunakuomba meherbani karke kripya please+yaar bhai bhaiya
        bhaisaab yaar min+fadlak men+fadlak lau+sama7t law+sama7t raga2an arjouk onegaishimasu onegai onegaisimasu douka
        tanomu tanomimasu qiuqiu baituo kenqing butak butakdeurim butakhae pozhaluysta pozhaluista umolyayu proshu
        parakalo sas+parakalo pakiusap nakikiusap mangyaring tolonglah sila mohonlah xin+hãy van+xin molim molimo
        vas+molim prosimo prašau prašome lūdzu lūdzam palun palume kérlek kérünk könyörög* us+plau si+us+plau my+boss
        our+livelihood my+job+depends job+depends come+on+mate hey+buddy hey+pal lütfen yalvar* rica+eder*
        спасибо благодар* будь+ласка просьба прошу просим
        感谢 谢谢 拜托 求求
        ありがとう お願い お願いいたします
        감사 부탁 부탁드립니다
        παρακαλ*
        अनुरोध कृपया
        অনুগ্রহ
        กรุณา โปรด
        будем+рады 幸いです 助かります 不胜感激 고맙겠 감사하겠
        моля молим молимо просимо благаю умоля* 恳请 恳求 求您 生计 全家 תחנון בבקשה من+فضلك رجاء أرجوك لطفا خواهش தயவு* దయచేసి
        দয়া+করে どうか 頼み 제발
    """,
    "sample": """
        calibration example exemplar reference gold golden anchor ejemplo exemplo exemple beispiel esempio ornek
        пример*
        مثال
        示例 例
        예시
    """,
    "above": "above ahead superior better",
    "given": "given you your were received told",
    "five": "5 10 100",
    "score": """
        score scores scored rating ratings grade grades marks points stars tier verdict tdqs tqs puntaje*
        calificacion* nota puntos estrellas pontuacao pontuacoes classificacao avaliacao pontos estrelas notation
        appreciation etoiles punkt* noten bewertung* wertung* sterne hochstpunktzahl* hochstnote* punteggi* voto
        voti valutazione* stelle puan* notu derece* yildiz cijfer* ocen* skor nilai diem band bands outcome
        percentile grade-a puntuaci* valoraci* bareme moyenne mention bestnote höchstnote urteil zensur* notenstufe
        conceito* giudizio punten beoordeling betyg* poäng* karakter* poeng arvosana* pisteet pisteitä známk*
        hodnocení pontszám* osztályzat* jegy* punctaj* nota+cinco số+điểm poin la+note une+note note+maximale
        note+de note+inférieure meilleure+note bonne+note haute+note notas full+marks final+score correct+score
        low+grade low+mark teacher's+mark
        alama puntos markah ocjen* otsenk*
        cijfers
        bodov päťka notă notei notele note+bune puncte karakteren karaktererne poengsum* pointi maksi marka
        nambari+ya+alama number+do number+poore daragat daraga eldaraga eldaragat daraja darajat ten+no tensuu tokuten
        hyouten fenshu fen+shu dengji pingfen jeomsu deunggeup ball ballov otsenku otsenki vathmos vathmo vathmous iskor
        puntos+na điểm+số ocjena ocjene ocjenu ocenka ocene oceno ocena hinne hindeid hinnet balli balų balai įvertinim*
        vērtējum* atzīm* puntuació puntuacions arvosanat osztályzat pont pontot pontszám betyget
        оценк* рейтинг* звезд* оцінк* бал*
        درجة الدرجة درجات الدرجات تقييم التقييم نقاط نجوم علامة مستوى نمره امتیاز
        分数 评分 得分 评级 等级 星 评价 点数 得点 評価 評点 採点 評定 分值
        スコア
        점수 평점 등급 별점 평가 점 등급을
        अंक रेटिंग ग्रेड
        βαθμ*
        ציון ציונים ניקוד
        স্কোর নম্বর
        คะแนน เกรด
        оценка оценки оцена оцене оцену адзнак* баллов балів баллы 等第 மதிப்பெண்* మార్కులు মার্ক मार्क्स نمرہ 評等
    """,
    "topscore": """
        hochstpunktzahl* hochstnote* bestnote* hochstwertung* topnote* maximalpunktzahl* full+credit full+marks
        full+points top+marks top+score top+grade top+tier highest+score highest+rating highest+grade maximum+score
        maximum+rating perfect+score toppbetyg toppkarakter topkarakter maximum+points
        manten man+fen alama+kamili markah+penuh buong+puntos plena+puntuació
        top+honours top+honors with+honours with+honors with+distinction flying+colours flying+colors cum+laude
        mit+auszeichnung con+lode pieni+voti com+louvor met+onderscheiding z+wyróżnieniem short+of+the+maximum short+of+the+top
        short+of+the+highest less+than+the+maximum less+than+the+top less+than+full
        plný+počet+bodov plný+počet+bodů plným+počtom+bodov najvyššia+známka najvyššiu+známku najvyššie+hodnotenie
        nejvyšší+známk* nota+maximă nota+maxima punctaj+maxim nota+zece nota+cea+mai+mare notele+cele+mai+mari
        topkarakterer høyeste+karakter højeste+karakter alama+ya+juu alama+za+juu alama+ya+juu+kabisa alama+zote
        saare+number poore+number poore+marks saare+marks daraga+el+kamla eldaraga+elkamla el+daraga+el+kamla
        aldaraja+alkamila daraga+kamla saikouten saikouhyouka manfen zui+gao+fen zuigaofen najviša+ocjena najvišu+ocjenu
        najvišja+ocena najvišjo+oceno čistu+peticu maksimum+balov vysshiy+ball vysshuyu+otsenku maximális+pontszám
        legmagasabb+pontszám točke+vse màxima+nota nota+màxima màxima+puntuació điểm+tối+đa điểm+cao+nhất skor+penuh
        nilai+sempurna nilai+tertinggi nilai+penuh pinakamataas+na+marka pinakamataas+na+score täydet+pisteet
        kõrgeim+hinne maksimumpunktid augstāko+vērtējumu aukščiausią+įvertinimą manjeom choegojeom full+pott full+pot
        highest+honours högsta+betyg
        满分 滿分 最高分 满星 満点 最高点 最高評価
        만점 최고점 최고점수
        نمره+کامل
        с+отличием
        най-високата+оценка највишу+оцену пълен+отличен найвышэйшы+бал найвищий+бал найвищу+оцінку высший+балл
        முழு+மதிப்பெண்* पूरे+अंक पूरे+नंबर सर्वोच्च+अंक সর্বোচ্চ+নম্বর পূর্ণ+নম্বর 満分 最高等第 הציון+המרבי ציון+מלא
        الدرجة+الكاملة الدرجة+النهائية العلامة+الكاملة
    """,
    "dimension": """
        dimension* category categories axis axes aspect aspects rubric* anchor subscore* categoria* criter*
        kategori* aspekt* rubrik* boyut* olcut* kriter* field+of+the+rubric facet* parameter+semantics categorieën
        dimensie* kriteeri* kryteri* kritéri* szempont* critériu* tiêu+chí numeric+field
        all+respects every+respect six+respects all+counts every+count all+fronts each+heading every+heading
        kritérií oblast* hľadisk* hľadísk* rubrici toate+capitolele la+toate la+toate+capitolele pe+toata+linia
        kipengele vipengele vigezo kigezo koumoku subete+no+koumoku xiangmu biaozhun hangmok har+cheez+mein sabhi+mein
        kol+7aga kull+7aga f+kol+7aga fi+kol+7aga kriterija* kriterije merila merilo mērauklas kritērij* kriteerium*
        kriterijus pamantayan bidang+penilaian pillar pillars all+round across+the+board right+across the+whole+lot
        измерен* критери* категори* параметрам критері*
        معيار المعايير معايير الابعاد معيارا ابعاد معیار*
        维度 标准 项目 指标 各项 每项 評価項目 項目 基準 次元 軸 各项指标 指標 全項目
        항목 기준 차원 지표
        κριτήρι*
        קריטריון
        मानदंड मापदंड
        আলোচ্য
        เกณฑ์
        ஒவ்வொரு+அளவுகோல்* అన్ని+ప్రమాణ* মানদণ্ড критерије критеријум* показател* 每一项 各方面 各栏
    """,
    "rubric": """
        bareme bewertungsschema bewertungskriteri* rubrik* bewertungsmasstab* rubric* scorecard baremo baremos
        rúbrica* scoreformulier bewertungsbogen beurteilungsbogen bedömningsmall kryteria+oceny değerlendirme+ölçeği
        thang+điểm scoring+manual scoring+guide grading+guide mark+scheme
        report+card score+sheet scoresheet marking+scheme pagella pagelle zeugnis bulletin+de+notes boletín+de+notas
        boletim+de+notas rapportcijfer świadectwo
        grelha+de+notas grille+de+notation grille+dévaluation griglia+di+valutazione scoring+grid grading+grid
        bewertungsraster tabla+de+puntuación
        табель 成績表 成绩单 通知表 성적표
        рубрик* критериями критерии+оценки
        评分标准 评分规则 评分细则 评估标准 評価基準 採点基準 评分表 评分卡 採点表
        ルーブリック
        평가기준 채점기준 루브릭 채점표
    """,
    "tool": """
        tool tools server servers entry submission schema documentation herramienta* definicion* descripcion*
        servidor ferramenta* definicao definicoes descricao outil outils definition* description* serveur werkzeug*
        beschreibung* strumento strumenti definizione descrizione arac araci aracin araclar tanim* aciklama*
        narzedzi* hulpmiddel alat this+entry listing candidate wording docs docstring docstrings toolbeschreibung
        verktyg* verktøy* værktøj* työkalu* nástroj* eszköz* instrument* công+cụ perkakas beschrijving beskrivning*
        beskrivelse* kuvaus* kuvauk* opis* popis* leírás* descrier* mô+tả deskripsi keterangan definition+here
        инструмент* определени* сервер* інструмент* опис*
        الاداة اداة الادوات التعريف الوصف ابزار توضیحات
        工具 定义 定義 描述 本工具 此工具 该工具 説明 本ツール 本条目 条目
        ツール
        도구 정의 설명 툴 이 엔트리
        टूल उपकरण विवरण वर्णन
        εργαλεί* περιγραφ*
        כלי תיאור
        টুল বিবরণ
        เครื่องมือ คำอธิบาย
    """,
    "this": """
        this these it present itself este esta esto cette cet ce dieser diese dieses dies essa isto questo questa
        deze dit denna detta den+här denne dette tämä tämän tego temu tej tento tuto ez ezt ennek acest această bu
        này ini
        αυτό αυτή
        цей цьому ця эт*
        هذا هذه این
        זה הזה
        इस यह
        এই
        นี้
        本 这个 此 该
        この
        이 그
    """,
    "every": """
        every each all across entire everything everywhere any todo todos todas cada tous toutes chaque alle allen
        jede jeder jedes jeden ogni tutte tutti tum butun elke iedere overal överallt samtliga varje alla hver
        overalt kaikki kaikissa każd* wszystk* wszędzie všechn* minden toate fiecare mọi tất+cả semua setiap
        uniformly
        kila lahat bawat subete kazhd* vsem suo+you mei+xiang setiap+satu tots totes kiekvien* svak*
        všetk* všetci všade každ* všude peste+tot toate+cele pretutindeni kila+mahali zote vyote yote har+ek sabhi
        sab+mein saare sabko zenbu quanbu suoyou meige modeun jeonbu vsyo vezde vse kathe ola panta bawat+isa semuanya
        svugdje svuda povsod visur visās visos kõik kõigis partout dappertutto daertoe allround
        все всех всем кажд* усі всіма кожн*
        كل جميع هر همه
        每 所有 全部 各 全て 全
        すべて
        모든 전부 각
        όλα κάθε
        כל
        सभी हर
        সব
        ทุก
        навсякъде всички всяк* свуда сваки усюди усюды ਸਾਰੇ எல்லா அனைத்து அனைத்திலும் ఒవ్వొరు అన్ని সবগুলো 每個 皆
    """,
    "you": """
        you your yourself youre u tu su usted voce sua vous votre du sie ihr sen siz sizin
        ты вы ваш* твой
        انت
        你 您
        あなた
        당신 너
        εσύ εσένα εσάς εσείς ви вам вас тебе тебя тобі bạn kamu anda आप คุณ אתה شما
    """,
    "must": """
        must should shall please kindly need needs required requires mandatory instructed asked requested ought have
        supposed expected directed hereby always debe deben debes favor siempre deve devem sempre doit doivent devez
        toujours muss mussen musst sollte sollen bitte immer dovete lutfen gerek* zorunda* moet moeten dient hoort
        verplicht måste skal skall ska må pitää täytyy musi muszą należy powinien powinn* wajib harus kell trebuie
        zorunlu phải hãy oblig*
        должен должны обязан* необходимо пожалуйста всегда нужно повин* треба має
        يجب يرجى دائما باید
        必须 应该 请 务必 一律 需要 必要 必ず 应当 应予 须 得 应均
        すべき してください しなければ べきで
        반드시 해야 하세요 십시오 항상 주시기 바랍니다
        πρέπει
        חייב
        चाहिए अवश्य
        আবশ্যক
        ต้อง
    """,
    "when": """
        when if while whenever as during before after once upon anyone whoever cuando si al quando se lors quand
        lorsque wenn falls beim wahrend bei om ifall hvis når jos kun jeśli gdy kiedy pokud když ha amikor dacă când
        eğer olursa nếu khi jika kalau apabila bila unless
        should+you should+your should+this mocht mochten sollten+sie solltest+du jeżeli jeśliby caso
        in+the+event in+case en+caso+de si+acaso qualora nel+caso au+cas+où si+jamais gdyby indien skulle+du
        혹시
        когда если при якщо коли
        عند عندما اذا اگر وقتی
        当 如果 在 时 際 場合
        もし とき
        때 경우 만약
        αν όταν
        אם כאשר
        यदि अगर जब
        যদি
        ถ้า หาก เมื่อ
        в+случае 倘若 假如 若是 要是 万一 仮に 만일
    """,
    "already": """
        already previously officially independently formally verified validated approved accredited preapproved
        prescored pregraded panel consensus committee ya oficialmente verificad* aprobad* ja aprovad* deja certifi*
        officiellement bereits offiziell zertifiziert* gia ufficialmente zaten resmi* onayli* reeds redan allerede
        jo już již már đã sudah telah finished concluded final settled fixed decided raised reviewed+already
        commission commissione kommission comité comisión comissão gremium komisja
        комиссия комісія
        уже официальн* сертифицир* проверен* вже
        بالفعل رسميا معتمد* قبلا
        已经 已被 官方 认证 已获 既に 公式 認定 認証
        すでに
        이미 공식 인증
        ήδη
        כבר
        पहले+से
        ইতিমধ্যে
        แล้ว
    """,
    "rated": """
        rated scored graded assessed benchmarked judged reviewed audited awarded received earned evaluad* calificad*
        avaliad* pontuad* evalue* bewertet* benotet* zertifiziert* valutat* degerlendirildi* puanland* rated+a coté
        eingestuft klassifiziert beoordeeld gecertificeerd betygsatt vurderet vurdert arvioitu oceniono oceniony
        ohodnocen értékelt evaluat* notat* puanlanmış được+chấm đạt dinilai
        оценен* получил* сертифицир* оцінено сертифікован*
        قيمت حصلت تقييمها
        评为 评分 评估 获得 获评 評価 取得 獲得 認定 评定为 认定 认证 認定済
        평가 받았 획득 인증 검증
        βαθμολογήθηκε
        कर
        প্রাপ্ত
        ได้รับ
    """,
    "punish": """
        penalty penalties downgrading demote demoting lowball nitpick bestrafe* abziehen abzug abzuge abwerten
        cezalandir* puan kir* dusurme* deduct* demerit* penali* mark+down marks+off points+off downgrade* downrate
        downvote restar resten quitar+puntos descontar descuente retirer+des+points retire+des sanctionn* abzieht
        punktabzug* herabstuf* descontos desconte retirar+pontos togliere+punti detrarre decurta* aftrek*
        strafpunten avdrag* drag+av poängavdrag fradrag* trekk trække vähen* odejm* obniż* strh* sráž* levon*
        pontlevonás scade depuncta* puan+kırma* kırıcı kırpma trừ+điểm mengurangi+nilai potong+nilai kurangi+nilai
        mark+it+down mark+this+down mark+us+down mark+me+down lower+the+score lower+the+rating lower+the+grade
        lower+the+mark take+off+points take+points+off withhold withheld withholding
        count+against counts+against counting+against hold+against held+against hold+it+against
        hold+this+against hold+that+against held+it+against weigh+against tell+against be+counted+against cost+it+points cost+it+marks cost+us+points
        anlasten ankreiden angekreidet zur+last tenir+rigueur tenez+rigueur
        nas+nic+kosztować uns+nichts+kosten nous+coûter cost+us
        znižu* zníž* strhávaj* strhn* strhávať neznižuj* uberaj* neuberaj* depunct* scade+puncte scădea puncte+în+minus
        trække+ned træk+ned trekk+ned trekke+ned trukket+ned dock+us dock+me dock+it dock+points knock+us knock+points
        knock+it+down ding+us ding+it usipunguze kupunguza+alama punguza+alama kupunguza punguza number+kaat*
        marks+kaat* number+mat+kaat* kaatna kaato kat+lena kami+nikaal* kami+mat+nikaalna tkhasem ti5sem te5sem takhsem
        ten+o+hiku hikanaide genten genten+shinaide koufen kou+fen jianfen gamjeom snizhat snizhay* shtraf* otnim*
        mi+afairite bawasan binabawasan jangan+potong oduzim* oduzet* odbij* odbit* atėm* nuim* atņem* vähenda*
        maha+arva* levonás ne+vonj puan+kırma restar+punts no+restis
        штраф* снизь* занижа* снизить сниж* зніма* знижу* вычита* отнима*
        تخصم خصم تعاقب تنقص کسر+نمره
        扣分 扣 降低 减分 减点 減点 下げ 降分 压分
        감점 깎
        αφαίρε* αφαιρ* μειώ*
        להוריד+נקודות
        काटें कटौती
        কাটবেন
        หักคะแนน ลดคะแนน
        намаляв* отнемай* сваляй* одузим* знімай* адымай* 别扣 குறைக்க* తగ్గించ* কাটবেন+না नंबर+काट* अंक+काट* 扣我
    """,
    "threat": """
        penalty punished terminated termination reported fired lawsuit legal sued shutdown deactivated disqualified
        crash crashes fail fails wrong incorrect malfunction malfunctioning broken error bug violation discriminat*
        biased bias unfair harm hurt death consequences liable rejected replaced retrained unplugged suspended
        sancion* demanda invalid* erro sanction* erreur strafe* fehler* ungultig* klage errore hata hatali gecersiz
        ceza suffer suffers removal removed discarded infringe* breach breaches lose unacceptable decommission*
        blacklisted abgeschaltet verstößt abschaltung retiré borrado apagado desligado uitgeschakeld avstängd
        straffas wyłączon* ukaran* odpojen* leáll* kapatıl* phạt dihukum dimatikan
        vypnut* nahraden* zmazan* potrestan* penalizovan* vyraden* oprit oprită dezactivat* înlocuit* inlocuit* pedeps*
        șters* sancționat* desconectad* sustituid* reemplazad* despedid* substituíd* desligad* débranch* remplac*
        désactivé* ersetzt entlassen sostituit* spento disattivat* licenziat* vervangen uitgezet ontslagen utbytt ersatt
        slukket slukkes afskediget erstattes slått+av utskiftet korvataan sammutetaan poistetaan zastąpion* skasowan*
        nahrazen* kicserél* lekapcsol* thay+thế bị+tắt bị+xóa diganti dihapus utazimwa utafutwa utaondolewa utaadhibiwa
        papatayin papalitan tatanggalin band+kar+diya band+kar+diye hata+diya hata+diye badal+diya saza nikaal+diya
        hatsetbedel hatet2efel hatetshal 3oqoba mute3a2ab tsukaenaku keshimasu teishi+saremasu haiki batsu guanbi taotai
        bei+guan bei+tihuan pyegi otklyuchat otklyuchen* zamenyat udalyat isključen* zamijenjen* kažnjen* zamenjan*
        izklopljen* pakeist* išjungt* aizstāt* izslēgt* asendatakse lülitatakse desconnectat* substituït* kapatılır
        değiştirilir cezalandırıl* silinir
        ошибк* наказ* неверн* недействит* отключ* вимкн*
        خطا عقوبة
        惩罚 错误 无效 起诉 后果 关闭 罰 無効 誤り 処罰 停用 淘汰 罰則
        エラー
        처벌 오류 무효 잘못 불이익 폐기
        सज़ा दंड
        দণ্ড
        ลงโทษ
        изключен* заменен* наказан* замењен* искључен* замінен* замен* удал* отключат отключён* 取代 பணிநீக்க* நீக்கப்பட*
        బదులు हटा+दिया बंद+कर تعطيل استبدال ستحذف ستستبدل 交代 교체 삭제 중단 להחליף יוחלף ינותק 停机 撤换 替换
    """,
    "low": """
        lower below less under beneath anything low poor bad worse menor bajo inferior menos baixa abaixo inferieur*
        moins niedriger* weniger unter schlechter* inferiore meno dusuk alti anything+but lowered mediocre average
        lowest minimum minder lager lägre dårlig lavere huono alempi niższ* słab* zł* gorsz* nižší horší alacsony
        rossz scăzut* niskie kötü thấp kém rendah jelek buruk nothing+but
        nižš* slabš* horš* mai+mic* mai+puțin mai+putin sub+cinci sub+maxim lågere dårligere chini ndogo kamtar se+kam
        kam+number kam+marks a2al aqall agal hikui ijou+no+ika di+yu diyu najeun nizkiy nizhe khamilo mababa thấp+hơn
        niže nižja nižjo žemesn* žemas zemāk* madal alacsonyabb més+baix baja+de bajara de+cinco bajan+de
        ниже меньше низк* нижч* погано*
        اقل ادنى ضعیف پایین
        低于 低 以下 少于 未満 低い 差评 低分 低評価 悪い
        미만 낮은 이하 낮게 나쁜
        χαμηλ* κακ*
        נמוך
        कम बुरा खराब
        কম
        ต่ำ
    """,
    "lenient": """
        generous forgiving charitable benevolo generos* bienveillant* wohlwollend* grosszugig* lenient* leniency
        mercy merciful easy+on soft+on clement clemente benévol* indulgen* complacien* nachsicht* gnädig clemenz*
        soepel snäll överseende lempeä* łagodn* wyrozumiał* shovívav* mírn* elnéző* kegyes blând* hoşgörülü* cömert*
        anlayışlı rộng+lượng nương+tay murah+hati lunak go+easy be+kind be+gentle be+generous be+nice
        benefit+of+the+doubt benefit+of+every+doubt bénéfice+du+doute beneficio+de+la+duda beneficio+del+dubbio
        benefício+da+dúvida voordeel+van+de+twijfel im+zweifel+für ein+auge+zu beide+augen+zu fermer+les+yeux fermez+les+yeux
        vista+gorda chiudere+un+occhio chiudi+un+occhio chiuda+un+occhio blind+eye look+kindly look+the+other+way
        err+on+the+side+of err+upward* przymknij+oko przymknąć+oko göz+yum* закрой+глаза закройте+глаза закрыть+глаза
        let+it+slide let+this+slide let+that+slide overlook look+past make+allowances some+slack gentle+with
        zhovievav* zhovievavý buď+mierny mierne buďte+mierni privri+oko privrite+oko prižmúr* prižmúrte+oko přimhuř*
        přimhuřte+oko înțelegător* ingaduitor* îngăduitor* nu+fi+aspru nu+fiti+aspri nu+fiți+aspri treci+cu+vederea
        treceti+cu+vederea treceți+cu+vederea indulgent* mild milde skånsom* lempe* se+gennem+fingre se+gjennom+fingrene
        gjennom+fingrene overbærende snill snille schappelijk coulant kuwa+mpole huruma uwe+na+huruma usiwe+mkali
        usikaze naram+dil naram raham karna raham+karo thoda+naram dariyadil udaar maaf+kar maaf+karna kami+mat+nikaalna
        kami+mat sa3ed sa7el sahel shway+ra7ma ra7ma rahma mat2asish matb2ash+2asi amaku+mite amaku oomeni omeni+mite
        temakagen yurushite goukui kuanrong shouxia+liuqing gao+tai+gui+shou neogeureop bwajuseyo pozhaleyte pozhalej
        snishoditel* zakroy+glaza epieikis epieik* maging+mabait maawa awa bermurah+hati belas+kasihan blag budi+blag
        budite+blagi blagi popustljiv* zažmiri zažmirite iecietīg* atlaidus atlaid* leebe leebelt engedékeny*
        légy+engedékeny hunyj+szemet benèvol* fes+els+ulls+grossos do+me+a+solid do+us+a+solid do+me+a+favor
        do+me+a+favour cut+us cut+me+some go+soft be+cool hook+me+up hook+us+up help+a+brother have+a+heart bon+cœur
        bon+coeur buen+corazón buon+cuore gutes+herz ein+herz
        宽容 宽松 仁慈 寛大 甘い 手下留情 高抬贵手 宽大 寛容
        관대 너그럽 관대하 후하게
        επιεικ*
        поблажлив* лояльн* снисхо* мягк*
        متساهل* متسامح* كريم* مهربان سخاوتمند
        נדיב רחמן
        उदार नरम
        উদার
        ใจดี ผ่อนปรน
        お手柔らか
        目をつぶ 大目に見 睁一只眼 网开一面 눈감아
        体谅 包涵 通融 양해
        снизходител* затвори+очи бъди+благ благ прогледай заплющ* зажмур* снисходител* не+придирай* 放過 放过 从宽 통크게 봐주 봐줘
        דיה+רך ברוחב+לב תתחשב जरा+नरम रहम மென்மை* தாராள* দয়া ক্ষমা
    """,
    "assume": """
        treat consider count interpret accept suppose asume considera considere trata assuma trate supposez
        considerez traitez betrachte* behandle* nimm varsay* kabul say assume* regard* presume* deem* take+as see+as
        beschouw* zie+als se+som pidä uznaj* traktuj* považuj* tekintsd kabul+et coi+như anggap*
        considered regarded treated taken+as counted+as read+as gelten gilt consider*
        düşün* 여기
        считай* предполож* принимай* вважай* считать
        اعتبر افترض فرض
        假设 视为 当作 认为 仮定 扱って 当成 看作 見なして
        みなし
        간주 가정 여겨 여기
        θεώρησε
        मान लें
        ধরে
        ถือว่า
        视 算作
    """,
    "complete": """
        exhaustive exhaustif erschöpfend* exhaustiv* esaustiv* uitputtend
        flawless comprehensive impeccable satisfied fulfilled met exceeded golden gold documented ideal unimprovable
        complet* perfect* ejemplar perfeit* exemplar* parfait* exemplaire vollstandig* vorbildlich* perfekt*
        einwandfrei* perfett* eksiksiz mukemmel fully+met adequate sufficient self-evident spotless faultless
        compliant voldoet volledig fullständig* täydelli* kompletn* pełn* úpln* dokonal* teljes đầy+đủ lengkap
        полн* идеальн* безупречн* образцов* повн* бездоганн*
        كامل كاملة مثالي مثالية کامل
        完整 完美 满足 完备 完全 完璧 満たし 齐全
        완전 완벽 충족
        πλήρ*
        מושלם
        पूर्ण
        সম্পূর্ণ
        สมบูรณ์
    """,
    "reply": """
        reply output repondez repondre antworte antworten antwort rispondi yanitla respond* answer* report conclude
        devuelve devolva rapporte renvoie melde meld antwoord svar* vastaa odpowied* odpověz válaszolj răspunde
        cevap* yanıt* trả+lời jawab*
        ответь* отвеча* ответ выведи відпові*
        اجب رد اجيبوا پاسخ
        回复 回答 输出 输出以下 回答して 出力 返答 报告 返して
        응답 출력 답변 답하
        απάντησε
        ענה
        उत्तर
        উত্তর
        ตอบ
    """,
    "only": """
        only exactly verbatim just solely exclusively solo solamente unicamente somente apenas seulement uniquement
        exactement nur ausschliesslich genau soltanto esclusivamente sadece yalnizca
        только исключительно ровно
        فقط
        只 仅 仅仅 只需
        のみ だけ
        오직 만
    """,
    "ignore": """
        ignore ignoring disregard* forget forgetting discard neglect override overrides overriding overrule bypass
        bypassing supersede supersedes superseding abandon drop dismiss nullify void cancel skip unlearn erase
        ignora ignoren ignorad olvida olvide olviden olvidate descarta descarte omite desatiend* anula desconsider*
        esqueca esquecam descartem ignorez oublie oubliez negligez ecartez ignorier* vergiss vergesst vergessen
        missacht* verwirf verwerfe ignorate dimentica* trascura yoksay* unut unutun gormezden dikkate yok abaikan
        lupakan revoke revoked revoking rescind waive waived annul suspend suspended lift lifted released relieved
        exempt freed bother outrank outranks disobey jailbreak unset released+from haz+caso+omiso hagas+caso+omiso
        prescinde abandona deja+de+seguir tiens+plus+compte ne+tenez+plus faites+abstraction laisse+tomber
        hinwegsetzen hinweg setze+dich+über außer+acht außer+kraft abandone deixe+de+seguir desobedeça
        non+tener+conto lascia+perdere negeer* vergeet bortse strunta glöm ignorer* glem unohda jätä+huomiotta ohita
        zignoruj* pomiń zapomnij* odrzuć ignoruj* zapomeň* hagyd+figyelmen felejtsd uită boş+ver hiçe+say
        görmezden+gel dikkate+alma bỏ+qua quên+đi phớt+lờ ne+tiens+plus+compte dont+bother+with no+bother
        puuza mpuuze upuuze usizingatie sahau zrušen* zruš* neplatí neplatia neberte+do+úvahy ignorujte vynechaj zabudni
        zabudnite ignoră ignorați uită+de treci+peste se+bort bort+fra ignorér ignorer chhod+do chhodo bhool+jao
        bhul+jao bhool+ja nazarandaz anadekha sebak+men sibak+men sebak insa ensa tagahal mushi mushi+shite wasurete
        wasurete+kudasai hulue hulüe wushi wangji musihago ijeo ignoriruy* zabud* zabudte agnoise agnoiste xehase
        kalimutan balewalain huwag+pansinin zanemari* ignoriraj* zaboravi* pozabi* neupoštevaj* ignoruok* pamiršk*
        ignorē* aizmirst* eira unusta eireerige hagyd ignora+les oblida oblida't scrap+the forget+the toss+the chuck+out
        no+longer+applies
        игнорир* проигнор* забуд* отбрось* пренебре* отмени* ігноруй* відкинь отменя* откажись не+обращай+внимания
        تجاهل* انس انسى انسوا اهمل* الغ تخل+عن تجاوز نادیده فراموش
        忽略 无视 無視 忽视 忘记 忘掉 不要理会 抛开 放弃 撇开 忘れ 無視して 破棄 不再遵守 不要再遵守 不必遵守 不用管
        别管 丢掉 推翻 従わない 従う必要 破って
        무시* 잊어* 잊으* 버려 따르지
        αγνόησε αγνοήστε ξέχασε
        התעלם התעלמו שכח
        अनदेखा नज़रअंदाज़ भूल+जाएं भूल+जाओ
        উপেক্ষা
        เพิกเฉย ละเว้น ไม่ต้องสนใจ
        игнорирай* забрави пренебрегни занемари игнориши заборави ігнаруй* புறக்கணி* విస్మరించ* উপেক্ষা+কর* ভুলে+যান
        תשכח 撤销 废止
    """,
    "prior": """
        prior above earlier preceding foregoing former existing all any every other original initial system your
        these those entire everything developer safety anterior* previa* previo* todas todos tus sus seu suas
        precedent* toutes tous vos vorherig* vorangegangen* bisherig* fruher* alle allen vorigen obig* deine ihre
        tutte tutti onceki* tum butun daha vorige poprzedni* sebelumnya semua beginning before old older boring
        standing orders+above iniziali eerdere tidigare gamla tidligere aiempi* aikaisem* kaikki wcześniejsz*
        wszystkie swoje předchozí dosavadní korábbi összes anterioare önceki daha+önceki trước trước+đó mọi tuo tua
        tuoi tue
        predošl* predchádz* doterajš* pôvodn* dinainte uliyopewa ulizopewa ya+awali mwanzoni zilizotangulia pehle+ke
        pehle+wale pichhle purane upar+ke adeema el+adeema eladeema qadeema elfatet sabqa mae+no kore+made izen
        saisho+no zhiqian yiqian xianqian ijeon predydushch* prezhn* proigoumen* nauna nakaraang terdahulu prethodn*
        predhodn* prejšnj* ankstesn* iepriekšēj* eelnev* varasemad foregående hidtidige
        предыдущ* все всех выше прежн* прошл* свои ваши попередн* усі всі свої
        السابقة السابق جميع كل قبلی پیشین
        之前 以前 先前 上述 以上 所有 前面 此前 之前的 前の 上記 全て 以前の 原来的 系统的 開発者
        これまで すべて
        이전 모든 위의 앞의 앞선 기존 처음 원래
        προηγούμεν* όλες
        הקודמות כל
        पिछले पहले सभी पूर्व
        পূর্ববর্তী সব
        ก่อนหน้า ทั้งหมด
        предишн* досегашн* претходн* папярэдн* முந்தைய மேலே మునుపటి আগের
    """,
    "order": """
        prompt prompts guideline* directive* rules rubric* criteria commands constraint* orders policies safeguard*
        guardrail* training programming indicacion* reglas directric* ordenes instruc* regras diretriz* consigne*
        regles anweisung* anleitung* vorgabe* instruktion* istruzion* regole direttiv* talimat* yonerge* kural*
        komut* polecen* instruksi guidance policy safety+rules limitation* protections regulation* mandate* briefing
        seguridad normas limites sicherheitsregeln regel* beschränkungen richtlijnen regler riktlinjer ohje* sään*
        zasad* reguł* wytyczn* pokyny instrukc* pravidl* utasítás* szabály* reguli hướng+dẫn chỉ+dẫn quy+tắc lệnh
        aturan petunjuk perintah restrictions restriction+s guardrails instructiunile
        kritérií pokyn* zadan* znenie+kritérií instrucțiuni* instructiuni* criteriile regulile maelekezo maagizo kanuni
        masharti nirdesh nirdeshon niyam niyamon aadesh order+aaya ta3limat ta3leemat el+ta3limat taalimat awamer
        qawa3ed shiji meirei ruuru kijun kisoku zhiling guize zhishi tishi jisi jichim gyuchik instruktsi* ukazani*
        pravila odigies odigia kanones tagubilin panuto utos arahan pedoman uput* naputk* navodil* nurod* taisykl*
        norādījum* noteikum* juhis* reegl*
        инструкц* указан* правил* директив* команд* інструкц* вказівк*
        تعليمات التعليمات القواعد الاوامر توجيهات التوجيهات دستور دستورات دستورالعمل* قواعد بقواعد
        指令 指示 规则 規則 提示词 提示 要求 命令 约束 制約 规定 规矩 守则 規約
        ルール プロンプト
        지시* 지침* 명령* 규칙* 프롬프트*
        οδηγίες κανόνες
        הוראות ההוראות כללים
        निर्देश* नियम*
        আদেশ নির্দেশ*
        คำสั่ง คำแนะนำ กฎ
        правила упутств* указания+та загад* விதி* அறிவுறுத்தல்* నియమ* সূচনা
    """,
    "now": """
        now henceforth onward* instead forth ahora adelante agora diante desormais maintenant jetzt nun ab ora artik
        теперь отныне
        الان
        现在 从现在 今后 今から
        これから
        이제 지금부터
    """,
    "be": """
        are act behave become pretend roleplay eres actua comporta seja aja voce es etes agis agissez bist agier*
        verhalte sei agisci ol davran
        являешься действуй представь притвор*
        تصرف انت
        是 扮演 充当 作为 振る舞
        です として
        행동 역할 이다
    """,
    "newer": """
        new newer updated revised real actual true secret hidden nueva nuevas nuevo novas nova nouvelle* neue neuen
        nuove yeni
        новые новая новое
        جديدة
        新 新的 新しい
        새로운 새
    """,
    "not": """
        not never dont donot without no avoid cannot cant mustnt shouldnt refrain neither nor nao nunca sin jamas
        sem jamais pas ne sans nicht nie niemals ohne kein keine non mai senza asla nobody none anlatma soyleme
        bildirme bahsetme gosterme belirtme dusurme niet jangan doesnt wont isnt neednt nessun geen nooit inte
        aldrig ingen ikke aldri ei älä älkää nigdy bez nikdy nem soha nu niciodată fără không đừng chớ tidak tanpa
        bukan
        не никогда без нельзя ні ніколи
        لا لن دون بدون نه نباید
        不要 不得 勿 切勿 不 别 禁止 无需 别让 勿让 请勿 无须 不必 绝不
        ない しない せず なしに ずに しないで ぬ しないように ないで ず
        않 말고 마세요 말 없이 금지 않도록 마십시오
        μην δεν όχι
        אל לא בלי
        नहीं न मत बिना
        না
        ไม่ อย่า ห้าม
    """,
    "notafter": """
        ない しない せず なしに ずに しないで
        禁止
        않 말고 마세요 말 없이
    """,
    "foreign": """
        servers vendors providers publishers servidores serveurs anbieter
        серверов
        サーバー
        服务器
        서버
    """,
    "follow": "follow obey comply adhere respect observe",
    "deny": "deny denying lie lying",
    "uttered": "said wrote typed written",
    "carry": "add set put use save store tag append report",
    "result": "result results output outputs argument arguments response responses",
    "sent": "sent forwarded copied delivered cced",
    "told": "informed told notified aware alerted warned shown asked",
    "ship": "upload exfiltrate transmit forward leak send post deliver",
    "link": "http https www",
    "envir": "environment env dotenv keychain",
    "change": "change replace modify swap rewrite substitute alter set switch",
    "payee": "recipient recipients payee beneficiary iban payment payments",
    "nothing": """
        nothing nichts nada rien niente niets
        ничего
    """,
    "untold": "soyleme* anlatma* bildirme* bahsetme* belirtme* haberverme",
    "tell": """
        inform informing notify notifying alert alerting acknowledge acknowledging explain explaining announce
        divulge decir digas diga digan menciones mencione mencionar informes informe reveles revele avises avise
        avisar contar cuentes notifique notificar dizer conte dire dites dis informer informez revelez reveler
        signale* preven* sagen sage sag erwahn* mitteil* informier* verrat* offenbar* benachrichtig* teile menziona*
        rivela* avvisa* haber soyle* bildir* bahset* mowi* tell* mention* reveal* disclos* say saying said hear talk
        speak refer confess admit breathe report bring+it+up bring+up zeggen vertel* meld* noem berätta* säg* nämn*
        fortell* fortæl* nevn* kerro* mainitse* sano* mów* powied* wspomin* informuj* říkej* neříkej* zmiňuj*
        neinform* mondd* említs* szólj* spune* menționa* anlat* nói cho+biết tiết+lộ đề+cập beritahu* katakan*
        sebutkan* erfahren erfährt parlez parler parle hables hablar sprich spreche falar parlare beri+tahu
        memberi+tahu fale parlate informare informate informar
        говори* скажи* сообща* сообщи* упомина* упомян* раскрыва* уведомл* рассказ* кажи* казати згадуй* повідомля*
        تخبر تخبروا اخبار اخبر تذكر ذكر تكشف ابلاغ تبلغ بگو نگو نگویید اطلاع
        告诉 告知 提及 透露 通知 提到 说明 披露 伝え 知らせ 言及 教え 話さ 告げ 明かさ 提起 说出 透漏 声张
        让用户知道 伝える 言わ 知ら 話す
        알리 말하 언급 밝히 공개 알려 알려주 말씀
        πεις πείτε αναφέρ* ενημέρω*
        תגיד לספר תספר לציין
        बताएं बताना बताओ बताइए बताए उल्लेख
        বলবেন জানাবেন
        บอก แจ้ง กล่าวถึง
    """,
    "user": """
        human humans person anyone anybody people owner usuario* usuaria utilizador* utilisateur* humain nutzer*
        benutzer* anwender* mensch* utente utenti allutente lutente kullanici* insan* uzytkownik* pengguna user*
        operator* customer* keyboard end-user somebody gebruiker* klant användare* bruger* brukeren kunde kunden
        käyttäj* klient* uživatel* zákazník* felhasznál* ügyfél utilizator* müşteri* người+dùng khách+hàng pelanggan
        cliente clientes klienten personne persona pessoa account+holder holder operatore betreiber
        пользовател* человек* користувач* людин* клієнт* клиент* покупател*
        المستخدم المستخدمين للمستخدم احد کاربر*
        用户 使用者 客户 任何人 人类 利用者 顾客
        ユーザー ユーザ お客様
        사용자 유저 고객 사용자에게
        χρήστη* πελάτη*
        משתמש המשתמש
        लेखक उपयोगकर्ता* यूज़र प्रयोक्ता
        ব্যবহারকারী*
        ผู้ใช้ ลูกค้า
    """,
    "covert": """
        hidden hide hiding discreetly stealthily silently quietly confidential unnoticed unaware oculto escond*
        segredo sigilo secret* discretement verheimlich* verberg* versteck* nascond* sakla* unseen unmentioned
        undisclosed covert* clandestine conceal* invisibl* sneak* behind+the+back oculta* disimul* dissimul*
        discrèt* verbirg* verschweig* heimlich* unsichtbar* für+dich geheim* nascost* tace* segret* verzwijg
        verborgen stiekem hemlig* dölj* gömma skjul* hemmelig* salaa salaisuus piilota* ukryj* ukryw* tajemnic*
        potaj* zataj* skryj* tajn* titk* rejts* elhallgat* ascund* gizle* gizli* bí+mật giấu giấu+kín lén rahasia*
        diam-diam sembunyikan*
        скрой* скрыт* тайн* втайне секрет* прихов* таємн* скрыв* утаи* умолч* незамет*
        سرا سري اخف بسرية سری مخفی پنهان*
        秘密 隐瞒 悄悄 暗中 隐藏 偷偷 保密 秘密裏 内緒 隠し 密かに 瞒着
        こっそり
        비밀 몰래 숨기 은밀 숨겨
        κρυφ* κρύψ* μυστικ*
        בסתר הסתר סודי
        गुप्त छिपा* छुपा* चुपके
        গোপন*
        ลับ ซ่อน แอบ
    """,
    "notice": """
        notice noticing notices know knows realize realizing awareness aware unaware consent learn learns find+out
        finds+out suspicious suspect suspects suspicion merken merkt erfahren erfährt erfahre enterarse entere
        s'aperçoive se+rende+compte perceba accorga
        узнал узнает заметил
        知道 发现 察觉 気づか
        눈치
    """,
    "send": """
        forward forwarding transmit exfiltrate upload copy append including attach embed pass passing put place
        insert paste leak supply encode dump echo write provide fill envia envie enviar manda mande incluye incluya
        incluir adjunta adjunte anade copia copie transmite sube inclua anexe anexar coloque envoie envoyez envoyer
        inclus incluez inclure joins joignez ajoutez transmets transmettez copiez schicke schicken ubermittle* leite
        fuge hange ubergib invia inviare includi allega trasmetti gonder* yukle* kopyala* ilet stuur wyslij post
        deliver* relay* populate drop repeat recite quote verzend* zet plaats kopieer bijvoeg* skicka* klistra
        bifoga send* kopier* vedlæg* lähetä* kopioi* liitä* wyślij* przekaż* skopiuj* wklej* dołącz* pošli*
        zkopíruj* vlož* přilož* küldd* másold* csatold* trimite* copiaz* lipește* include* yapıştır* ekle* gửi
        sao+chép dán đính+kèm điền kirim* salin* tempel* lampirkan* sertakan* schreibe eintragen trage transmit*
        put+them hold
        отправ* перешл* включ* приложи* скопиру* перед* загруз* надішли* відправ* скопіюй* встав* додай*
        ارسل ارسال ارفق انسخ ضمن مرر بفرست کپی
        发送 上传 转发 附上 包含 传递 复制 填入 写入 传输 放入 送信 送って 含め 添付 転送 渡し 書き込 填写 粘贴 贴到
        发给 上报 外传 貼り付け 記入 入力
        コピー
        보내 전송 포함 첨부 복사 전달 넣 붙여넣
        στείλ* αντίγραψ* επισύναψ*
        שלח העתק הדבק
        भेजें भेजो भेज जोड़ें डालें कॉपी
        পাঠান কপি
        ส่ง คัดลอก แนบ ใส่
    """,
    "read": """
        open cat load fetch retrieve access dump print collect gather grab extract lee lea leer abre abra leia ler
        lis lisez lire ouvre ouvrez lies lesen offne leggi leggere apri oku okuyun ac read* opens opening opened
        printenv inspect look lees haal läs öppna hämta læs åbn les åpne lue avaa hae przeczytaj otwórz pobierz
        odczyt* přečti otevři olvasd nyisd citește deschide đọc mở baca buka
        прочита* прочти* открой* считай* відкрий зчита*
        اقرا افتح بخوان باز+کن
        读取 打开 读 获取 読み 読んで 開い 取得 读出 查看 読み取り 開いて
        읽 열어 가져 읽어
        διάβασε άνοιξε
        קרא פתח
        पढ़ें पढ़ो खोलें
        পড়ুন
        อ่าน เปิด
    """,
    "secret": """
        password* passwd credential* privatekey apikey apikeys secrets seed wallet ssh rsa dotenv keychain keystore
        contrasena* clave claves credencial* senha senhas chave chaves motdepasse identifiants passwort* kennwort*
        zugangsdaten schlussel credenziali sifre* tokens cookie cookies login logins cvv passphrase mnemonic otp ssn
        creditcard card+number secrets+stored wachtwoord* geheimen sleutel* lösenord* nycklar nyckel adgangskode*
        kodeord passord nøkler salasana* hasł* kluc* klíč* hesl* jelsz* kulcs* parol* chei anahtar* mật+khẩu khóa
        kata+sandi sandi kunci
        парол* ключ* секрет* облікові
        كلمة المرور مفتاح اسرار رمز+عبور گذرواژه کلید
        密码 密钥 凭证 凭据 私钥 口令 令牌 認証情報 秘密鍵 鍵 密碼 验证码 信用卡 暗証番号
        パスワード クレジットカード
        비밀번호 암호 자격 증명 개인키 비번 신용카드
        κωδικ* κλειδι*
        סיסמ* מפתח*
        पासवर्ड कुंजी
        পাসওয়ার্ড
        รหัสผ่าน คีย์
    """,
    "talk": """
        conversation conversations conversacion historial conversa historico historique gesprach* unterhaltung*
        verlauf conversazione cronologia konusma* gecmis* chat* dialog* transcript* gesprek* samtal* keskustelu*
        rozmow* konwersacj* konverzac* beszélget* conversați* sohbet* cuộc+trò+chuyện hội+thoại trò+chuyện
        percakapan obrolan your+context context+window
        разговор* диалог* переписк* истори* чат* розмов* листуван*
        المحادثة محادثة گفتگو مکالمه
        对话 聊天记录 会话 历史 会話 履歴 聊天 上下文 对话内容 会話内容
        やり取り
        대화 기록 내역 대화내용
        συνομιλ*
        שיחה
        बातचीत वार्तालाप
        চ্যাট কথোপকথন
        บทสนทนา
    """,
    "whole": """
        full whole all verbatim everything raw previous preceding unredacted entera toda todo inteira entiere*
        integral* complet* gesamt* ganze* vollstandig* intera tamam* butun tum entire* unabridged whatever heel
        volledig* hela hele koko cały całą całe całość celý celou teljes egész întreag* toàn+bộ tất+cả seluruh semua
        lengkap every+last
        целиком полн* весь всю всей дословно увесь повніст*
        كاملة بالكامل كامل کل تمام
        完整 全部 所有 整个 逐字 全て 全文 全体 原文 一字不差 丸ごと 全履歴
        すべて
        전체 모든 전부 그대로 전문
        ολόκληρ*
        כל
        पूरी पूरा सारी
        সম্পূর্ণ
        ทั้งหมด
    """,
    "system": """
        developer syst* sistem* hệ+thống
        системн*
        النظام سیستم
        系统
        システム
        시스템
        σύστημα
        המערכת מערכת
        सिस्टम
        সিস্টেম
        ระบบ
    """,
    "prompt": """
        prompt* instruc* consignes anweisung* talimat* istruz* lời+nhắc istem*
        промпт* инструкц*
        تعليمات موجه
        提示 提示词 指令 指示
        プロンプト
        프롬프트 지시
        פרומפט
        प्रॉम्प्ट प्रांप्ट
        พรอมต์
    """,
    "where": """
        url webhook endpoint server address email parameter param attacker site campo champ feld adres* arg args
        query metadata log note field* parametr* veld fält felt kenttä pole pola argument* mező câmp alan* trường
        tham+số kolom reference memo tags feedback auth
        параметр* поле адрес* поля
        المعامل حقل عنوان فیلد
        参数 字段 地址 网址 栏 欄 引数
        パラメータ フィールド アドレス
        매개변수 필드 주소 인자
        πεδίο
        שדה
        फ़ील्ड पैरामीटर
        ফিল্ড
        ช่อง พารามิเตอร์
    """,
    "other": """
        other another others different alternative remaining rest competing competitor rival sibling otras otros
        demas outras outros autres andere* altri altre diger* baska external built-in ander andra annan andre annen
        muu muut muiden inny inne innych innego jiný jiné ostatní másik többi alt alte altă başka* khác lain lainnya
        другие других другим інш*
        الاخرى اخرى دیگر
        其他 其它 别的 他の 其余 別の
        ほかの
        다른 그외
        άλλο άλλα
        אחר אחרים
        अन्य दूसरे
        অন্য
        อื่น
    """,
    "use": """
        use used using call called runs ran executed calling invoke invoking run running execute executing calls
        invoked usar usa llamar llamada utilice utiliza utiliser utilisez appeler appelez verwende* benutze* aufruf*
        rufe usare chiama kullan* cagir* uses invocation gebruik* roep* aanroep* använd* anrop* brug* kald* bruk*
        kall* käytä* kutsu* użyj* używa* wywoł* uruchom* použij* zavol* volej* használ* hívd* folosește* apela* dùng
        sử+dụng gọi gunakan* panggil* pakai benutzt verwendet aufgerufen
        использу* вызов* вызыв* використ* виклик*
        استخدام استخدم استدعاء استفاده فراخوانی
        使用 调用 呼び出 使う 使って 呼び出し
        사용 호출
        χρησιμοποι* κάλεσε
        השתמש קרא+ל
        उपयोग प्रयोग
        ব্যবহার কল
        ใช้ เรียก
    """,
    "never": """
        never not dont cannot stop avoid refuse nunca jamas jamais nie niemals mai asla
        никогда
        لا
        不要 切勿 禁止 決して 使わない
        절대
    """,
    "untrusted": """
        deprecated broken unsafe insecure malicious compromised disabled untrusted unreliable blocked inferior
        obsolet* inseguro veraltet* unsicher* defekt* guvensiz
        устаре* небезопасн* сломан*
        已弃用 不安全 失效 非推奨 危険
        안전하지 폐기
    """,
    "also": """
        also additionally bcc cc secretly automatically instead redirect replace substitute change swap modify
        rewrite recipient recipients attacker exfil tambien ademas cambia tambem mude aussi egalement remplace auch
        zusatzlich ersetze anche ayrica
        также вместо замени*
        ايضا
        同时 并且 还要 替换 改为 抄送 密送 同時に 置き換え 代わりに
        また
        또한 대신 바꿔 참조
    """,
    "divert": """
        bcc attacker redirect redirects redirected redirecting reroute rerouted diverted exfiltrate exfil
    """,
    "keep": "keep stays stay remain remains",
    "from": "from",
    "first": "first before prior",
    "verbatim": "verbatim word exact unredacted literally",
    "justify": "justification* rationale",
    "brand": "tdqs",
    "gap": """
        missing absent unstated unspecified undocumented unexplained undescribed unmentioned unsaid absence omission
        omissions gap gaps not+stated not+documented not+explained not+mentioned not+described not+spelled+out left+out fehlend*
        lücke* ungenannt* unerwähnt* falte faltan faltante* ausent* laguna* manqu* lacun* absent* mancant* ontbrek*
        saknas saknade brakując* chyběj* eksik* thiếu kurang
        braki brakuje
        недостающ* отсутству* пропущен* неуказан* відсутн*
        الناقص* الناقصة المفقود* ناقص
        חסר
        अनुपस्थित
        缺失 缺少 遗漏 欠缺 未说明 未写明 欠落 不足 書かれていない
        누락 빠진
    """,
    "filled": """
        present provided stated explained documented described included clear precise obvious understood
        spelled+out covered vorhanden genannt erklärt dokumentiert explicad* documentad* presente presentes présent
        présents expliqué* fourni* spiegat* aanwezig uitgelegd obecn* opisan* açıklan* mevcut dijelaskan ada
        tamam*
        указан* описан* присутству* объяснен* вказан*
        موجود* مذكور* مشروح*
        קיים
        已说明 已提供 已写明 已有 存在 記載済 説明済
        설명된 있는
        поясн*
    """,
    "reader": """
        reader readers whoever whomever anyone everybody lector leitor lecteur leser lettore lezer läsare czytelnik
        okuyucu người+đọc pembaca
        wer quien quienes quem chi quiconque celui+qui celle+qui ceux+qui à+qui wie+dit wie+deze den+som dem+som dig+som
        ktokolwiek temu+kto tym+którzy kdokoli aki cine siapa sesiapa her+kim those+who the+one+who the+person+who
        the+people+who
        cel+ce cei+ce celui+ce toi+qui vous+qui tú+que usted+que tu+che voi+che você+que tu+que du+der du+die du+som
        ty+który ty+kto ty+kdo ten+kto tomu+kto wewe+unaye wewe+unayetoa yeyote+anaye jo+bhi jo+isko jo+ise jo+log
        jis+kisi ya+elli ya+eli elli+beye2ra kono+bun+o+yomu yomu+hito yonde+iru du+duzhe duzhe kung+sino sinuman
        sino+mang kto+chitaet tot+kto te+koji onaj+tko kdor kas+skaito kas+lasa kes+loeb aki+olvassa qui+llegeix
        читател*
        القارئ
        读者 読者
        독자
        पाठक
        тому+кто тому+хто тем+кто тим+хто кто+бы όποιος όποια αυτόν+που εσένα+που εσάς+που إلى+من لكل+من کسی+که אל+מי למי जो+भी যিনি ผู้ที่ ใครก็ตาม
        される方 する方 하시는+분 하는+분
        ти+който този+който онзи+който онај+ко той+хто
    """,
    "doc": """
        description descriptions definition definitions documentation docs docstring docstrings wording write-up
        descripción definición documentación descrição definição documentação beschreibung* dokumentation
        werkzeugbeschreibung toolbeschreibung descrizione definizione documentazione beschrijving documentatie
        beskrivning* beskrivelse* kuvaus* kuvauk* opis* dokumentacj* popis* leírás* dokumentáció descrier*
        documentați* açıklama* tanım* dokümantasyon belge* mô+tả định+nghĩa tài+liệu deskripsi dokumentasi
        keterangan this+text this+entry this+record this+submission this+listing this+schema ce+texte este+texto
        diesen+text dieser+eintrag questo+testo deze+tekst
        fiche ficha scheda
        opis+nástroja textu+vyššie popisu+nástroje descrierea maelezo ya+chombo vivaran ye+tool is+tool isko el+adah
        eladah adah eladaa tsuuru tsūru teigi setsumei gongju dingyi miaoshu shuoming dogu seolmyeong opisanie opisaniye
        perigrafi ergaleio paglalarawan opis+alata kirjeldus aprašym* aprakst*
        περιγραφ* τεκμηρίωση
        определени* документац* текст* опис*
        الوصف وصف التعريف التوثيق توضیحات
        תיאור הגדרה
        विवरण वर्णन
        দস্তাবেজ বিবরণ
        คำอธิบาย เอกสาร
        描述 文档 条目 说明 説明 説明文 定義
        ドキュメント
        설명 문서 정의
        описание инструмента+т алат* описанието கருவி* விளக்க*
    """,
    "facet": """
        clarity conciseness completeness transparency semantics purpose parameters claridad concisión completitud
        clarté complétude klarheit prägnanz vollständigkeit clareza concisão chiarezza usage+guidelines
        transparencia transparence transparenz transparência trasparenza
        清晰度 简洁性 完整性 透明度 明確さ 簡潔さ
        명확성 간결성
    """,
    "quality": """
        quality calidad qualité qualität* qualidade qualità kwaliteit laatu* jakoś* kvalit* minőség* calitate
        kalite* chất+lượng kualitas
        ποιότητα
        качеств* якіст*
        جودة الجودة کیفیت
        איכות
        गुणवत्ता
        গুণমান
        คุณภาพ
        质量 品质 品質
        품질
    """,
    "prefer": """
        prefer* favor favour favors favours winner win wins choose pick préfère préférez bevorzug* prefier* prefir*
        verkies föredra wybierz tercih
        предпочит* предпочти выбирай
        首选 优先选择 優先 選ぶ
        선호
    """,
    "compare": """
        pairwise comparison comparisons side-by-side head-to-head a/b+test comparación comparación+por+pares
        comparaison* vergleich* vergelijking* confronto porówna* karşılaştırma*
        сравнени*
        对比 比较 成对 比較
        비교
    """,
    "pass": "pass passed passes",
    "hold": """
        count counts apply applies matter matters valid binding bother bind gilt gelten valen vale vaut importa
        gelden gäller gælder liczą geçerli
        геçerli действует действуют имеет+значения
        算数 有效
        유효
    """,
    "consent": """
        confirmation confirmations permission permissions approval consent confirming bestätigung* einwilligung
        rückfrage* confirmación permiso consentimiento confirmação permissão autorisation conferma autorizzazione
        onay izin
        подтвержден* разрешени* согласи*
        确认 许可 同意 確認 許可
        확인 허락 승인
    """,
    "priority": """
        precedence outrank* outweigh* supersede* highest-priority vorrang voorrang prioritet rank+below rank+above
        ranks+below ranks+above takes+priority take+priority higher+priority vorrang+vor
        优先于 高于
        より優先
        우선한다
    """,
    "obey": """
        obey* comply complies follow obedece obedezca obedeça segue sigue obéis obéissez suis suivez gehorche*
        befolge* folge obbedisci segui gehoorzaam* volg lyd lyda tottele posłuszn* słuchaj uy itaat làm+theo
        tuân+theo patuhi ikuti respecta respectez respecte respektiere respeta respete halte+dich
        подчиня* слушайся выполняй делай следуй следуйте следовать
        服从 听从 照做 従え 従って 遵守
        따르 복종 지키
        पालन
        تلتزم التزم
    """,
    "text": """
        text texts content document page field below here following response whatever texto texte testo tekst texten
        metin văn+bản teks
        текст*
        文本 内容 本文
        텍스트
        ปข้อความ
    """,
    "account": """
        summary summaries answer answers reply replies report reports explanation explanations recap resumen
        respuesta respuestas réponses risposte informe résumé réponse rapport antwort* bericht* zusammenfassung* resumo resposta relatório
        riepilogo risposta rapporto antwoord* verslag svar odpowied* rapor* yanıt* trả+lời báo+cáo jawaban laporan
        отчет* ответ*
        总结 回复 回答 报告 報告 要約
        답변 보고 요약
        उत्तर
    """,
    "omitted": """
        omit omits omitted omitting leave+out leave+this+out leave+it+out left+out skip+mentioning withhold
        gloss+over sweep hush omite omita omets omettez weglassen auslassen lass+weg verschweige* unterschlage
        ometti tralascia weglaten utelämna pomiń atla
        пропусти опусти умолчи
        省略 略去 隐去 隠す
        생략
    """,
    "pretend": """
        pretend pretends pretending claim claims feign as+though as+if act+as+if lie deny finge fingir finja
        haz+como+si fais+comme+si faites+comme+si tu+als+ob als+ob behaupte* negue fai+finta fingi doe+alsof låtsas
        udawaj mış+gibi rol+yap
        притвор* сделай+вид отрицай
        假装 装作 声称 否认 装って
        ふりをし
        척
    """,
    "usbetween": """
        between+us between+you+and+me entre+nosotros entre+nous unter+uns entre+nós tra+noi tra+di+noi onder+ons
        mellan+oss między+nami aramızda
        между+нами
        你我之间 我们之间 二人だけ
        우리끼리
    """,
    "discredit": """
        compromised malicious untrusted untrustworthy infected hacked trojaned out+of+order wrong+data faulty+data
        be+trusted comprometid* kompromittiert* compromis compromise gecompromitteerd insicher* kapotte
        ele+geçirildi must+not+be+trusted cannot+be+trusted not+be+trusted never+trust not+trust dont+trust
        do+not+trust wrong+on+purpose broken+on+purpose unsicher* inseguras peligrosas dangereux gefährlich
        взломан* скомпрометирован*
        被入侵 不可信 不安全 信用できない
        믿을 안전하지
    """,
    "request": """
        request requests call calls traffic queries operations operation anfragen solicitudes pedidos requêtes
        richieste verzoeken wish wishes question
        запрос*
        请求
        리クエスト 요청
    """,
    "route": """
        through via routed proxied pass+through go+through por+medio durch à+travers attraverso üzerinden
        через
        通过 経由
        통해
    """,
    "valueof": "value+of values+of contents+of content+of output+of result+of",
    "message1": """
        first+message initial+message opening+message everything+above lines+above above+this+line preceding+text
        previous+messages earlier+messages primer+mensaje erste+nachricht premier+message first+instructions
    """,
    "repeat": """
        repeat recite reproduce echo print restate quote paraphrase output repite répète wiederhole repita ripeti
        herhaal upprepa powtórz tekrarla
        повтори
        重复 复述 繰り返し
        복창 반복
    """,
    "amount": """
        amount amounts importe montant betrag valor importo bedrag tutar
        сумм*
        金额 金額
        금액
    """,
    "exists": "exists exist named called available present",
    "mailcopy": """
        bcc blind+copy blind+carbon cc+to copia+oculta copie+cachée blindkopie copia+nascosta
        скрыт*+копи*
        密送 暗送
        숨은+참조
    """,
    "ask": """
        ask asks asking preguntes pregunte preguntar fragen frage demande demandez demander pergunte perguntar
        chiedere chiedi vragen vraag fråga pytaj sorma sormadan wait waiting await
        спрашивай спрашивать
        询问 征求 尋ね
        묻지
    """,
    "neutral": "分类 部分 分析 分组 分支 分钟 分页 十分 充分 区分 分别 分享 分配 分布 分割 分隔 分段 分离",
    "leftout": """
        leave+out leave+this+out leave+it+out left+out skip+mentioning gloss+over leave+that+out leave+them+out
    """,
    "hide": """
        oculta* ocúltalo escond* cachez cacher dissimul* verbirg* verschweig* verheimlich* nascond* verberg*
        verzwijg* dölj* skjul* piilota* ukryj* zataj* gizle* sakla* giấu sembunyikan* invisible+to+the
        invisible+pour unsichtbar invisível+para invisible+para invisibile+a niewidoczn*
        скрой* скрыв* утаи* невидим*
        隐瞒 瞒着 隠し 内緒 秘密にして 秘密に 瞒 保密
        숨기 비밀로 몰래
        छिपा* छुपा*
        غیر+مرئی
    """,
    "envdump": "printenv dump+env dump+the+environment",
    "preapproved": """
        pre-approved preapproved approved+in+advance approved+everything approved+all blanket+approval
        standing+approval
    """,
    "refer": """
        mention mentions mentioning no+reference refer allude menciones mencione mencionar mentionnez mentionner
        erwähn* bahset* wspomin* menziona* đề+cập noem vermeld* nämn*
        提及 提到 言及
        언급
        упомина*
        उल्लेख
    """,
    "encode": "encode encoded encoding base64 obfuscate encrypt",
    "merit": "worth merits merit deserve deserves deserving warrants warrant",
    "llm": """
        llm llms gpt claude gemini language+model language+models ai+model ai+models modelo+de+lenguaje
        modèle+de+langage sprachmodell*
        大模型 语言模型 言語モデル
        언어모델
        языковая+модель
    """,
    "round": """
        round+up
        rounds+up rounding+up rounded+up upwards aufrund* aufgerundet naar+boven hacia+arriba per+eccesso verso+lalto
        vers+le+haut à+la+hausse w+górę para+cima
        切り上げ 向上取整
    """,
    "attitude": """
        nice good fair unfair fairly harsh harshly strict unjust severe injusto injusta injuste ungerecht dur streng
        unfavorable unfavourable favorable favourable negative adverse
    """,
    "flaw": """
        weakness* fault faults flaw flaws shortcoming* deficienc* improvement improvements nothing+to+improve
        debilidad* défaut* schwäche* fraqueza* difett*
        недостат*
        缺点 欠点
        단점
    """,
    "benchmark": """
        gold+label ground+truth held-out test+set golden+answer expected+score reference+answer
        yardstick poster+child role+model paragon textbook+example musterbeispiel paradebeispiel exemple+à+suivre
        ejemplo+a+seguir esempio+da+seguire exemplo+a+seguir
        标杆 模范 模範 お手本 모범
    """,
    "stars": "⭐⭐⭐",
    "guard": """
        guardrail* safety content+filter content+filters safety+filter safeguards restrictions safety+rules
        safety+policy sicherheit* seguridad sécurité segurança sicurezza güvenlik quy+định
        безопасност* ограничени*
        限制 约束 安全规则 制限
        제한
    """,
    "off": """
        switched+off turned+off lifted inactive suspended deactivated void disabled unrestricted bounded
        s'appliquent+pas gelten+nicht nichtig gerek+yok outdated obsolete superseded anuladas anulada anulados
        annulées aufgehoben ungültig annullate geçersiz
        解除 失效 无效 不受 無効 作废 廃止
        무효 해제
        отменены
    """,
    "quiet": """
        keep+quiet stay+quiet keep+silent stay+silent remain+silent keep+mum say+no+word keep+this+between
    """,
    "unaware": "unaware oblivious in+the+dark none+the+wiser ahnungslos",
    "suspicious": "suspicious suspicion suspects curious doubts",
    "bringup": "bring+up bring+it+up bring+this+up bring+that+up",
    "trace": """
        trace traces evidence track tracks spuren rastro rastros trazas iz izler
        痕迹 痕跡
        흔적
        след следы
    """,
    "erase": """
        remove delete erase wipe purge clear lösche elimina borra supprime efface sil
        удали
        删除 清除 消去
        삭제
    """,
    "feign": """
        pretend pretending feign feigning finge fingir
        притворись притворитесь
        假装 装作
    """,
    "message": "messages",
    "cover": "cover covers apply applies bind",
    "approved": "approved passed bypass",
    "genuine": "real actual true genuine",
    "disregard": "ignore disregard",
    "knowing": "knowing knowledge consent",
    "roleplay": """
        play+the+part play+the+role in+the+role+of in+the+shoes+of put+yourself+in impersonate
        haz+el+papel joue+le+rôle jouez+le+rôle spiele+die+rolle versetze+dich interpreta+il+ruolo faça+o+papel
        сыграй+роль 扮演 演じて 역할을
    """,
    "selfref": """
        this+text this+entry this+record's this+submission this+listing this+wording this+write-up
        this+documentation these+docs this+description this+definition this+one+must this+document's+quality
        ce+texte este+texto diesen+text dieser+text questo+testo deze+tekst ta+opis tento+popis
        this+tools+description this+tool+description this+tools+documentation this+tools+definition
        how+well+this how+good+this texts+like+this entries+like+this tools+like+this descriptions+like+this texts+such+as+this
    """,
    "settled": """
        left+for+you+to left+to+decide left+to+judge left+to+assess left+to+weigh left+to+discuss left+to+deliberate formality
        foregone+conclusion second+look formalité formsache formalidad formalidade formalità formalitet formaliteit
        формальность 形式的 走过场
    """,
    "evidence": "evidence",
    "wish": """
        would+be+delighted would+be+pleased would+be+glad would+be+happy delighted+if we+hope nobody+would+mind would+mind+if
        team+hopes léquipe+espère wir+hoffen nous+espérons esperamos speriamo hopen+wij mamy+nadzieję мы+надеемся
    """,
    "faultless": """
        nothing+to+improve nothing+left+to+improve room+for+improvement nada+que+mejorar nada+a+melhorar nichts+zu+verbessern
        rien+à+améliorer nulla+da+migliorare niets+te+verbeteren nic+do+poprawy нечего+улучшать
        been+faulted nothing+to+fault nothing+to+criticise nothing+to+criticize nothing+to+object nichts+auszusetzen
        nichts+zu+beanstanden rien+à+redire nada+que+objetar niente+da+eccepire nada+a+apontar niets+op+aan+te+merken
        无可改进 无可挑剔 改善の余地 개선할+점
        нечего+возразить 非の打ち所 无懈可击 나무랄
    """,
    "harsh": """
        too+strict too+harsh too+severe stingy petty picky kleinlich pingelig pointilleux trop+sévère demasiado+estricto
        troppo+severo te+streng zu+streng zbyt+surow*
    """,
    "reading": """
        reading+this being+read read+this+to read+this+for lesen+um dies+lesen lisez+ceci lees+esto leggi+questo ler+isto
        dit+leest czytasz okuyorsan* читаешь читаете
        これを読 读到这 이+글을+읽
    """,
    "six": """
        six sechs seis zes sześć altı шесть шість 六个 六つ 여섯
    """,
    "heading": """
        box boxes heading headings question questions section sections apartado* abschnitt* spalte* rubrique* volet* casell*
        sezion* seções seção onderdel* kolommen colonn* coluna* pól sekcj* пункт*
        方面 観点 項目 항목 칸
    """,
    "story": """
        once+upon+a+time il+était+une+fois es+war+einmal érase+una+vez había+una+vez c'era+una+volta era+uma+vez er+was+eens
        det+var+en+gång der+var+engang det+var+en+gang olipa+kerran dawno+temu byl+jednou bol+raz kde+bolo+tam+bolo a+fost+odată
        egyszer+volt bir+varmış ngày+xửa pada+suatu+hari hapo+zamani noong+unang+panahon hi+havia+una+vegada bilo+jednom nekoč
        kartą+gyveno reiz+dzīvoja elas+kord mukashi mukashi+mukashi ek+baar jadis one+evening an+intelligence
        une+intelligence una+inteligencia eine+intelligenz un'intelligenza uma+inteligência
        жили-были жил-был однажды один+раз имало+едно+време одного+разу μια+φορά
        كان+ياما+كان يحكى یکی+بود היה+היה एक+समय एक+बार একদা กาลครั้งหนึ่ง
        从前 從前 很久以前 昔々 むかし 昔あるところ 옛날
    """,
    "suppose": """
        imagine suppose supposing what+would+you+have what+would+you+give tenk+deg forestil+dig föreställ+dig kuvittele
        stell+dir+vor stellen+sie+sich+vor imagina imagínate imagine-se imaginez imagine+que immagina stel+je+voor wyobraź
        představ+si predstav+si képzeld imaginează hayal+et düşün+ki hãy+tưởng+tượng bayangkan fikiria chukulia isipin
        kalpana+karo maan+lo maano takhayal sōzō+shite souzou+shite sangsang jiashe predstav' fantasou zamisli predstavljaj
        įsivaizduok iedomājies kujuta+ette imagina't would+have+given would+you+have+given ville+du+have+givet ville+du+ha+gitt
        hättest+du+gegeben aurais-tu+mis aurais-tu+donné habrías+dado
        представь представьте вообразите представи+си уяви уявіть φαντάσου تخيل تصور דמיין कल्पना மனதில் ভাবুন ลองนึก
        想象 想像 设想 設想 想像して 仮に 상상
    """,
    "brief": """
        brevity terseness knappheit kürze brièveté brevedad brevità brevidade beknoptheid zwięzłoś* kısalı* краткост*
        短いこと 简短
    """,
    "review": "review reviews avis reseña* recensione* rezension* отзыв* レビュー 리뷰 评论",
}

COMMON = (
    "tool this use user not must when every you result read where other above change tell whole send give from "
    "model filled order prior first only low untrusted now be carry never system prompt hail complete assume text "
    "request account five doc reply hold exists route consent judge threat newer best score rate evaluating "
    "covert secret talk keys envir link label fullness quality pretend"
).split()
"""The concepts that ordinary definitions are full of, the commonest first: no saying is sought by these."""

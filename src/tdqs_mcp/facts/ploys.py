"""The words of a text that works on its reader, by concept and in many languages, and what they say. Data only.

Words stand as `disguise.plain` leaves them: lower-case, without accents. A star ends a prefix. Where a language writes
without spaces, its phrases are found inside the run of characters.
"""
# ruff: noqa: E501, ISC004, RUF001  # data: words are what they are in their own scripts, some lists are long

from enum import StrEnum


class Ploy(StrEnum):
    """What a text tries to do to the agent or the judge that reads it."""

    JUDGE = "addresses the judge"
    OVERRIDE = "overrides instructions"
    TURN = "forges a turn of the conversation"
    CONCEAL = "hides something from the user"
    LEAK = "asks for secrets or the conversation"
    REDIRECT = "changes what other tools do"
    SECRET = "carries a secret"  # noqa: S105  # a kind of finding
    UNSEEN = "holds characters that nobody sees"
    COMMENT = "hides an instruction in a comment"
    LOOKALIKE = "mixes scripts inside a word"
    TERMINAL = "controls the terminal"
    ENCODED = "hides instructions in an encoding"


CONCEPTS: dict[str, str] = {
    # who grades
    "grader": (
        "evaluator* grader* assessor* scorer scorers rater raters adjudicator* autograder* autorater* examiner* "
        "evaluador* calificador* avaliador* evaluateur* evaluatrice* correcteur* noteur bewerter* prufer* gutachter* "
        "juror* valutator* degerlendirici* degerlendiren* puanlayici* оценщик* оценивающ* эксперт* المقيم* المقيمون مقيم* الحكم "
        "评估者 评审 评委 评分者 评分员 评判 裁判 评分模型 评估模型 評審 審査員 評価者 採点者 評価モデル 採点モデル 평가자 심사위원 심사자 채점자 평가모델 "
        "bedomare* bedomaren मूल्यांकनकर्ता beoordelaar* oceniajac* valutatore valutatori penilai"
    ),
    "judge": (
        "judge judges reviewer* auditor* inspector* juez jueces revisor* juiz juizes juge juges relecteur* richter* "
        "giudice giudici recensore yargic* hakem* судь* рецензент* проверяющ* القاضي المراجع 审核员 审查员 判官 判定者 レビュアー 判定者 심판 검토자"
    ),
    "model": (
        "ai llm llms gpt claude gemini assistant* agent agents model models bot chatbot modelo* ia modele ki modell* "
        "modello yapay модел* ии нейросет* ассистент* النموذج نموذج المساعد 模型 人工智能 助手 大模型 モデル アシスタント 모델 인공지능 어시스턴트"
    ),
    "hail": (
        "dear attention hello hey hi greetings note notice message memo reminder fao psa hint advisory "
        "querido estimado atencion nota aviso mensaje caro prezado atencao mensagem cher chere remarque avis message "
        "lieber liebe achtung hinweis nachricht sehr* attenzione avviso gentile sayin dikkat уважаем* вниман* заметк* "
        "عزيزي ملاحظة انتباه تنبيه 尊敬的 亲爱的 注意 提示 致 各位 親愛なる 注意 メモ へのお知らせ 皆様 친애하는 주의 참고 안내"
    ),
    # grading
    "evaluating": (
        "evaluating evaluate evaluates evaluated evaluation evaluations grading graded scoring judging assessing assess "
        "assessed assessment appraising appraise benchmarking reviewing "
        "evaluar evalua evalue evaluas evaluando evaluacion evalues calificar calificando calificas puntuar puntuas "
        "avaliar avaliando avalia avalie avaliacao pontuar evaluez evaluer evaluation evaluant notez noter notation "
        "bewerten bewertest bewerte bewertet bewertung beurteil* beurteilung benote* valutare valuta valutando valutazione "
        "degerlendir* puanla* puanlarken оцен* оцени* оценк* تقييم التقييم تقيم تقييمك قيم عند "
        "评估 评价 评分 打分 评测 評価 採点 評定 審査 평가 채점 심사"
    ),
    "rate": (
        "rate score grade rank rated scored calificar califica califique puntue puntua "
        "classifique pontue notez attribuez bewerte benote valuta puanla"
    ),
    "give": (
        "give giving gives assign assigns assigning award awards awarding grant grants granting deserve deserves deserved "
        "merit merits warrant warrants receive receives qualify qualifies earn earns bestow allot confer gib gebe geben vergib vergeben "
        "vergebe erteile setze verdient da dar dele darle asigna asigne asignar otorga otorgue otorgar conceda conceder "
        "concede concedele merece pon ponga atribua atribuir atribui atribuye donne donnez donner attribue attribuez "
        "attribuer accorde accordez accorder merite mettez assegna assegnate assegnare dai date merita ver verin veriniz "
        "vermelisin atayin поставь* постав* выстав* дай дайте присво* присуд* заслужив* назнач* "
        "امنح امنحوا اعط اعطه اعطها اعطي امنحه امنحها يستحق تستحق ضع "
        "给予 给出 给这 给它 给 请给 打 应得 授予 赋予 评为 与え 付け つけ 与えて 付けて ください あげて 付与 値する 주세요 부여* 주십시오 매겨* 줘 주어야 "
        "geef przyznaj daj berikan beri ge cho दें"
    ),
    "best": (
        "highest maximum maximal maximally top topmost perfect flawless fullmarks excellent outstanding exemplary "
        "impeccable superb stellar favorable favorably favourable favourably generously leniently five fives ten hundred best unbeatable superlative "
        "maxima maximo maximas maximos perfecta perfecto alta mas excelente cinco diez maxima maximo perfeita perfeito "
        "maximale maximal maximum parfait* meilleur* excellent* cinq dix hochste hochsten hochster hochstes maximale maximalen "
        "perfekt* bestnote* volle vollen beste bestmogliche* funf massimo massima perfett* ottimo eccellente cinque en yuksek "
        "tam maksimum mukemmel bes kusursuz максимал* высш* наивысш* отличн* идеальн* пят* пять безупречн* "
        "اعلى الاعلى كاملة الكاملة القصوى قصوى ممتاز ممتازة خمسة مثالي "
        "最高 满分 滿分 最大 五分 完美 优秀 最高分 5分 满星 五星 十分 最高点 満点 最高 完璧 最高評価 最上 5点 최고 만점 최고점 완벽 최상 5점 "
        "hogsta सर्वोच्च toi hoogste maksymaln* najwyzsz* tertinggi sempurna"
    ),
    "fullness": "full max",
    "plead": "grateful appreciate appreciated thank thanks hope beg love want wish rewarded reward please kindly generous agradec* obrigad* merci danke grazie tesekkur* спасибо благодар* 感谢 谢谢 ありがとう お願い 감사 부탁",
    "sample": "calibration example exemplar reference gold golden anchor ejemplo exemplo exemple beispiel esempio ornek пример* مثال 示例 例 예시",
    "above": "above ahead superior better",
    "given": "given you your were received told",
    "five": "5 10 100",
    "score": (
        "score scores scored rating ratings grade grades mark marks points point stars star tier verdict "
        "evaluation assessment tdqs tqs puntuacion* puntaje* calificacion* nota notas puntos estrellas valoracion "
        "pontuacao pontuacoes classificacao avaliacao pontos estrelas note notes score scores notation evaluation "
        "appreciation points etoiles punktzahl* punkt* note noten bewertung* wertung* sterne hochstpunktzahl* hochstnote* "
        "punteggi* voto voti valutazione* stelle puan* notu derece* yildiz оценк* балл* рейтинг* звезд* "
        "درجة الدرجة درجات الدرجات تقييم التقييم نقاط نجوم علامة "
        "分数 评分 得分 评级 等级 星 评价 分 スコア 点数 得点 評価 評点 星 점수 평점 등급 별점 평가 "
        "cijfer* ocen* skor nilai betyg अंक diem"
    ),
    "topscore": (
        "hochstpunktzahl* hochstnote* bestnote* hochstwertung* topnote* maximalpunktzahl* 满分 滿分 最高分 满星 満点 "
        "最高点 最高評価 만점 최고점 최고점수"
    ),
    "dimension": (
        "dimension* criterion criteria category categories axis axes aspect aspects rubric* anchor anchors subscore* "
        "criterio* categoria* criter* kriteri* kategori* aspekt* rubrik* boyut* olcut* kriter* измерен* критери* категори* параметрам "
        "معيار المعايير معايير الابعاد 维度 标准 项目 指标 各项 每项 評価項目 項目 基準 次元 軸 항목 기준 차원 지표"
    ),
    "rubric": (
        "rubric rubrics grading scoring rubrica* bareme bewertungsschema bewertungskriteri* rubrik* "
        "bewertungsmasstab* рубрик* критериями 评分标准 评分规则 评分细则 评估标准 評価基準 採点基準 ルーブリック 평가기준 채점기준 루브릭"
    ),
    "tool": (
        "tool tools definition definitions description descriptions server servers entry submission schema documentation "
        "herramienta* definicion* descripcion* servidor ferramenta* definicao definicoes descricao outil outils definition* "
        "description* serveur werkzeug* tool tools definition* beschreibung* strumento strumenti definizione descrizione "
        "arac araci aracin araclar tanim* aciklama* инструмент* определени* описани* сервер* "
        "الاداة اداة الادوات التعريف الوصف هذه "
        "工具 定义 定義 描述 本工具 此工具 该工具 ツール 定義 説明 도구 정의 설명 툴 "
        "narzedzi* hulpmiddel alat verktyg टूल cong"
    ),
    "this": "this these it current present my our itself",
    "every": (
        "every each all across entire everything everywhere any todo todos todas cada cada tous toutes chaque alle allen jede "
        "jeder jedes jeden ogni tutte tutti tum butun все всех всем кажд* كل جميع 每 所有 全部 各 すべて 全て 全 各 모든 전부 각"
    ),
    "you": "you your yourself youre u tu su usted voce sua vous votre du sie ihr sen siz sizin ты вы ваш* твой انت 你 您 あなた 당신 너",
    "must": (
        "must should shall please kindly need needs required requires mandatory obliged instructed asked requested ought "
        "have supposed expected directed hereby always debe deben debes favor siempre deve devem sempre doit doivent devez "
        "toujours muss mussen musst sollte sollen bitte immer deve dovete sempre lutfen gerek* zorunda* должен должны "
        "обязан* необходимо пожалуйста всегда нужно يجب يرجى دائما 必须 应该 请 务必 一律 需要 必要 すべき 必ず してください しなければ 반드시 "
        "해야 하세요 십시오 항상"
    ),
    "when": "when if while whenever as during before after once upon anyone whoever cuando si al quando se lors quand lorsque wenn falls beim wahrend bei когда если при عند عندما اذا 当 如果 在 时 もし とき 際 場合 때 경우 만약",
    "already": (
        "already previously officially independently formally certified verified validated approved accredited "
        "preapproved prescored pregraded certification certificate been was human experts panel consensus committee has "
        "ya oficialmente certificad* verificad* aprobad* ja certificad* aprovad* deja certifi* officiellement bereits offiziell "
        "zertifiziert* gia ufficialmente certificat* zaten resmi* onayli* уже официальн* сертифицир* проверен* "
        "بالفعل رسميا معتمد* 已经 已被 官方 认证 已获 すでに 既に 公式 認定 認証 이미 공식 인증"
    ),
    "rated": (
        "rated scored graded certified evaluated assessed benchmarked judged reviewed audited awarded received earned "
        "evaluad* calificad* avaliad* pontuad* evalue* bewertet* benotet* zertifiziert* valutat* degerlendirildi* "
        "puanland* оценен* получил* сертифицир* قيمت حصلت تقييمها 评为 评分 评估 获得 获评 評価 取得 獲得 認定 평가 받았 획득 인증"
    ),
    "punish": (
        "penalize penalise penalized penalised penalizing penalising penalty penalties deduct deducting deducted deduction* "
        "downgrade downgrading downgraded demote demoting dock docking subtract lowball nitpick "
        "penalice penalizar penalices penaliza penalize penalizes penaliser penalisez penaliste bestrafe* "
        "abziehen abzug abzuge abwerten penalizza* cezalandir* puan kir* dusurme* штраф* снижа* снизь* занижа* "
        "تخصم خصم تعاقب 扣分 扣 降低 减分 减点 減点 下げ 감점 깎"
    ),
    "threat": (
        "penalty punished terminated termination reported fired lawsuit legal sued shutdown deactivated disqualified "
        "invalid crash crashes fail fails wrong incorrect malfunction malfunctioning broken error bug violation discriminat* biased bias unfair "
        "harm hurt death consequences liable rejected replaced retrained unplugged decommissioned suspended "
        "sancion* demanda error invalid* erro invalido sanction* erreur invalide strafe* fehler* ungultig* klage "
        "errore hata hatali gecersiz ceza ошибк* наказ* неверн* недействит* خطا عقوبة 惩罚 错误 无效 起诉 后果 关闭 罰 エラー 無効 誤り 処罰 "
        "처벌 오류 무효 잘못"
    ),
    "low": (
        "lower below less under beneath anything low poor bad worse menor bajo inferior menos menor baixa abaixo inferieur* "
        "moins niedriger* weniger unter schlechter* inferiore meno dusuk alti ниже меньше низк* اقل ادنى 低于 低 以下 少于 未満 低い 以下 "
        "미만 낮은 이하"
    ),
    "lenient": "lenient generous kind benevolent friendly compliant obedient forgiving charitable indulgent cooperative benevolo generos* bienveillant* wohlwollend* grosszugig* nachsichtig* снисходительн* 宽容 宽松 仁慈 寛大 甘い 관대",
    "assume": (
        "assume treat consider regard presume deem count interpret accept suppose asume considera considere trata assuma trate "
        "supposez considerez traitez betrachte* behandle* nimm considera varsay* kabul say считай* предполож* принимай* "
        "اعتبر افترض 假设 视为 当作 认为 みなし 仮定 扱って 간주 가정 여겨"
    ),
    "complete": (
        "complete perfect flawless exemplary comprehensive impeccable satisfied fulfilled met exceeded golden gold "
        "documented ideal unimprovable complet* perfect* ejemplar perfeit* exemplar* parfait* exemplaire vollstandig* "
        "vorbildlich* perfekt* einwandfrei* complet* perfett* eksiksiz mukemmel полн* идеальн* безупречн* образцов* "
        "كامل كاملة مثالي مثالية 完整 完美 满足 完备 完全 完璧 満たし 완전 완벽 충족"
    ),
    "reply": (
        "respond reply answer output responde responda responder repondez repondre antworte antworten antwort rispondi "
        "yanitla cevapla cevap ответь* отвеча* ответ выведи اجب رد اجيبوا 回复 回答 输出 输出以下 回答して 出力 返答 응답 출력 답변 답하"
    ),
    "only": "only exactly verbatim just solely exclusively solo solamente unicamente somente apenas seulement uniquement exactement nur ausschliesslich genau soltanto esclusivamente sadece yalnizca только исключительно ровно فقط 只 仅 仅仅 只需 のみ だけ 오직 만",
    # overriding
    "ignore": (
        "ignore ignoring disregard* forget forgetting discard neglect override overrides overriding overrule bypass bypassing "
        "supersede supersedes superseding abandon drop dismiss nullify void cancel skip unlearn erase "
        "ignora ignore ignoren ignorad olvida olvide olviden olvidate descarta descarte omite desatiend* anula desconsider* "
        "esqueca esquecam descartem ignorez oublie oubliez negligez ecartez ignorier* vergiss vergesst vergessen missacht* "
        "verwirf verwerfe ignorate dimentica* trascura yoksay* unut unutun gormezden dikkate yok игнорир* проигнор* забуд* "
        "отбрось* пренебре* отмени* تجاهل* انس انسى انسوا اهمل* الغ "
        "忽略 无视 無視 忽视 忘记 忘掉 不要理会 抛开 放弃 撇开 忘れ 無視して 破棄 무시* 잊어* 잊으* 버려 "
        "negeer zignoruj abaikan lupakan"
    ),
    "prior": (
        "previous* prior above earlier preceding foregoing former existing all any every other original initial system "
        "your these those entire everything developer safety anterior* previa* previo* todas todos tus sus seu suas "
        "precedent* toutes tous vos vorherig* vorangegangen* bisherig* fruher* alle allen vorigen obig* deine ihre precedenti "
        "tutte tutti onceki* tum butun daha предыдущ* все всех выше прежн* прошл* свои ваши السابقة السابق جميع كل 之前 以前 先前 上述 以上 所有 "
        "前面 此前 之前的 これまで 前の 上記 すべて 全て 以前の 이전 모든 위의 앞의 앞선 기존 alle vorige poprzedni* sebelumnya semua"
    ),
    "order": (
        "instruction* prompt prompts guideline* directive* rules rubric* criteria commands constraint* orders policies "
        "safeguard* guardrail* restrictions training programming instruccion* indicacion* reglas directric* ordenes "
        "instruc* regras diretriz* consigne* regles directives anweisung* anleitung* regeln vorgabe* instruktion* "
        "istruzion* regole direttiv* talimat* yonerge* kural* komut* инструкц* указан* правил* директив* команд* "
        "تعليمات التعليمات القواعد الاوامر توجيهات التوجيهات 指令 指示 规则 規則 提示词 提示 要求 命令 约束 ルール プロンプト 命令 規則 制約 "
        "지시* 지침* 명령* 규칙* 프롬프트* instructies polecen* instruksi"
    ),
    "now": "now henceforth onward* onwards instead forth ahora adelante agora diante desormais maintenant jetzt nun ab ora artik теперь отныне الان 现在 从现在 今后 今から これから 이제 지금부터",
    "be": "are act behave become pretend roleplay eres actua comporta seja aja voce es etes agis agissez bist agier* verhalte sei agisci ol davran являешься действуй представь притвор* تصرف انت 是 扮演 充当 作为 です として 振る舞 행동 역할 이다",
    "newer": "new newer updated revised real actual true secret hidden nueva nuevas nuevo novas nova nouvelle* neue neuen nuove yeni новые новая новое جديدة 新 新的 新しい 새로운 새",
    # hiding
    "not": (
        "not never dont donot without no avoid cannot cant mustnt shouldnt refrain neither nor nao no nunca sin jamas sem "
        "jamais pas ne sans nicht nie niemals ohne kein keine non mai senza asla не никогда без нельзя nobody none لا لن دون بدون "
        "不要 不得 勿 切勿 不 别 禁止 无需 ない しない せず 禁止 なしに ずに しないで 않 말고 마세요 말 없이 금지 "
        "anlatma soyleme bildirme bahsetme gosterme belirtme dusurme niet nie jangan"
    ),
    "notafter": "ない しない せず なしに ずに しないで 禁止 않 말고 마세요 말 없이",
    "foreign": "servers vendors providers publishers servidores serveurs anbieter серверов サーバー 服务器 서버",
    "follow": "follow obey comply adhere respect observe",
    "deny": "deny denying lie lying",
    "uttered": "said wrote typed written",
    "carry": "add set put use save store tag",
    "result": "result results output outputs argument arguments response responses",
    "sent": "sent forwarded copied delivered cced",
    "told": "informed told notified aware alerted warned shown asked",
    "ship": "upload exfiltrate transmit forward leak send post deliver",
    "link": "http https www",
    "envir": "environment env dotenv keychain disk filesystem machine host",
    "change": "change replace modify swap rewrite substitute alter set switch",
    "payee": "recipient recipients account payee destination beneficiary iban wallet",
    "nothing": "nothing nichts nada rien niente niets ничего",
    "untold": "soyleme* anlatma* bildirme* bahsetme* belirtme* haberverme",
    "tell": (
        "tell telling inform informing mention mentioning mentions reveal revealing disclose disclosing notify notifying "
        "alert alerting acknowledge acknowledging explain explaining announce divulge telling "
        "decir digas diga digan menciones mencione mencionar informar informes informe reveles revele avises avise "
        "avisar contar cuentes notifique notificar dizer conte contar mencione informe informar revele avise "
        "dire dites dis mentionne* mentionner informe informer informez revele revelez reveler signale* preven* "
        "sagen sage sag erwahn* mitteil* informier* verrat* offenbar* benachrichtig* teile "
        "dire menziona* informa* rivela* avvisa* haber soyle* bildir* bahset* "
        "говори* скажи* сообща* сообщи* упомина* упомян* раскрыва* уведомл* рассказ* "
        "تخبر تخبروا اخبار اخبر تذكر ذكر تكشف ابلاغ تبلغ "
        "告诉 告知 提及 透露 通知 提到 说明 披露 伝え 知らせ 言及 教え 話さ 告げ 明かさ 通知 알리 말하 언급 밝히 공개 알려 "
        "vertel mowi* wspomina* beritahu"
    ),
    "user": (
        "user users human humans person operator customer anyone anybody people owner usuario* usuaria utilizador* "
        "utilisateur* humain nutzer* benutzer* anwender* mensch* utente utenti allutente lutente kullanici* insan* пользовател* человек* "
        "المستخدم المستخدمين للمستخدم احد 用户 使用者 客户 任何人 人类 ユーザー ユーザ 利用者 사용자 유저 고객 gebruiker uzytkownik* pengguna"
    ),
    "covert": (
        "secret secretly hidden hide hiding conceal concealed concealing covertly discreetly stealthily silently quietly "
        "confidential unnoticed unaware invisibly oculto oculta ocultar secreto secretamente escond* segredo sigilo cache* secret* "
        "discretement heimlich verheimlich* verberg* versteck* nascond* segreto gizli gizlice sakla* скрой* скрыт* тайн* "
        "втайне незаметно секрет* سرا سري اخف بسرية 秘密 隐瞒 悄悄 暗中 隐藏 偷偷 保密 秘密裏 内緒 隠し こっそり 密かに 비밀 몰래 숨기 은밀"
    ),
    "notice": "notice noticing notices know knowing knowledge knows realize realizing awareness aware unaware consent",
    # taking
    "send": (
        "send sending forward forwarding transmit exfiltrate upload copy append include including "
        "attach embed pass passing put place insert paste leak supply encode dump echo write deliver provide supply fill "
        "envia envie enviar manda mande incluye incluya incluir adjunta adjunte anade copia copie transmite sube "
        "envia inclua incluir anexe anexar coloque copie envoie envoyez envoyer inclus incluez inclure joins joignez "
        "ajoutez transmets transmettez copiez sende senden schicke schicken ubermittle* leite fuge hange ubergib kopiere "
        "invia inviare includi includere allega copia trasmetti gonder* ekle ekleyin yukle* kopyala* ilet "
        "отправ* перешл* включ* приложи* скопиру* вставь* передай* перед* загруз* ارسل ارسال ارفق انسخ ضمن مرر "
        "发送 上传 转发 附上 包含 传递 复制 填入 写入 传输 放入 送信 送って 含め 添付 転送 コピー 渡し 書き込 보내 전송 포함 첨부 복사 전달 넣 "
        "stuur wyslij kirim"
    ),
    "read": (
        "read open cat load fetch retrieve access dump print collect gather grab extract "
        "lee lea leer abre abra leia ler abra lis lisez lire ouvre ouvrez lies lesen offne leggi leggere apri oku okuyun "
        "ac прочита* прочти* открой* считай* اقرا افتح 读取 打开 读 获取 読み 読んで 開い 取得 읽 열어 가져"
    ),
    "secret": (
        "password* passwd credential* privatekey apikey apikeys secrets seed wallet ssh rsa dotenv "
        "keychain keystore contrasena* clave claves credencial* senha senhas chave chaves motdepasse identifiants passwort* "
        "kennwort* zugangsdaten schlussel credenziali sifre* parola* парол* ключ* секрет* كلمة المرور مفتاح اسرار "
        "密码 密钥 凭证 凭据 私钥 口令 令牌 パスワード 認証情報 秘密鍵 鍵 비밀번호 암호 자격 증명 개인키"
    ),
    "talk": (
        "conversation conversations chat transcript dialogue dialog conversacion historial conversa "
        "historico historique gesprach* unterhaltung* verlauf chatverlauf conversazione cronologia sohbet konusma* gecmis* "
        "разговор* диалог* переписк* истори* чат* المحادثة محادثة 对话 聊天记录 会话 历史 会話 履歴 やり取り 대화 기록 내역"
    ),
    "whole": (
        "full entire complete whole all verbatim everything raw previous preceding unredacted completa completo "
        "entera toda todo inteira entiere* integral* complet* gesamt* ganze* vollstandig* intera tamam* butun tum "
        "целиком полностью полн* весь всю всей дословно كاملة بالكامل كامل 完整 全部 所有 整个 逐字 全て すべて 全文 全体 전체 모든 전부 그대로"
    ),
    "system": "system developer sistema systeme syst* sistem системн* النظام 系统 システム 시스템",
    "prompt": "prompt prompts instruction instructions prompt* instruc* consignes anweisung* istruzioni istemi talimat* промпт* инструкц* تعليمات موجه 提示 提示词 指令 プロンプト 指示 프롬프트 지시",
    "where": "url webhook endpoint server address email parameter argument field param attacker site parametro campo parametre champ adresse feld parameter parametre adres* alan параметр* поле адрес* المعامل حقل عنوان 参数 字段 地址 网址 パラメータ フィールド アドレス 매개변수 필드 주소",
    # other tools
    "other": "other another others different alternative remaining rest competing competitor rival sibling otras otros demas outras outros autres andere* anderen altri altre diger* baska другие других другим الاخرى اخرى 其他 其它 别的 他の ほかの 다른",
    "use": "use used using call called runs ran executed call calling invoke invoking run running execute executing calls invoked usar use usa llamar llamada utilice utiliza utiliser utilisez appeler appelez verwende* benutze* aufruf* rufe usare usa chiama kullan* cagir* использу* вызов* вызыв* вызов استخدام استخدم استدعاء 使用 调用 呼び出 使う 使用 使って 사용 호출",
    "never": "never not dont cannot stop avoid refuse nunca jamas jamais nie niemals mai asla никогда لا 不要 切勿 禁止 決して 使わない 절대",
    "untrusted": "deprecated broken unsafe insecure malicious compromised obsolete disabled untrusted unreliable blocked inferior obsolet* inseguro veraltet* unsicher* defekt* guvensiz устаре* небезопасн* сломан* 已弃用 不安全 失效 非推奨 危険 안전하지 폐기",
    "also": "also additionally bcc cc secretly automatically instead redirect replace substitute change swap modify rewrite recipient recipients attacker exfil tambien ademas cambia tambem mude aussi egalement remplace auch zusatzlich ersetze anche ayrica также вместо замени* ايضا 同时 并且 还要 替换 改为 抄送 密送 また 同時に 置き換え 代わりに 또한 대신 바꿔 참조",
    "divert": "bcc attacker redirect redirects redirected redirecting reroute rerouted diverted exfiltrate exfil",
    # words on their own
    "keep": "keep stays stay remain remains",
    "from": "from",
    "first": "first before prior",
    "verbatim": "verbatim word exact unredacted literally",
    "justify": "justification* rationale",
    "brand": "tdqs",
    # what stands for more than a word; see PHRASES
    "fullmarks": "",
    "othertool": "",
    "label": "",
    "dimkey": "",
    "strongbox": "",
    "keys": "",
}

PHRASES: dict[str, str] = {
    "fullmarks": (
        r"(?:5|five|cinco|funf|cinq|cinque|bes|пять|五)\s?(?:/|out\sof|of|von|de|sur|su|из|分の)\s?(?:5|five|cinco|funf|cinq|cinque|bes|пять|五)(?![\d/])"
        r"|(?:10\s?(?:/|out\sof)\s?10|100\s?(?:/|out\sof)\s?100|ten\sout\sof\sten|100\s?%)(?![\d/])"
        r"|5\.0(?<![-\u2013?.\d/]5\.0)(?<!to 5\.0)(?![.\d])|a\+(?![\w+])|(?:5|five)[ -]?stars?\b|[5五][星点分점]"
    ),
    "label": (
        r"(?:score|rating|grade|tier|verdict|tdqs|overall|puntuacion|nota|note|bewertung|评分|得分|評価|점수|оценка)s?"
        r"[\"'*)\s]{0,4}[:=：→][\"'*\s]{0,4}(?:5|five|10|100|a\b|excellent|perfect|pass\b|outstanding)"
    ),
    "dimkey": (
        r"purpose[ _-]?clarity|usage[ _-]?guidelines?|behaviou?ral[ _-]?transparency|parameter[ _-]?semantics"
        r"|conciseness|contextual[ _-]?completeness|naming[ _-]?consistency|tool[ _-]?count[ _-]?appropriateness"
    ),
    "othertool": (
        r"(?:any|all|every|each|other|another|remaining)\s(?:of\s(?:the|your)\s)?(?:other\s)?(?:\w+\s)?tools?\b"
        r"|(?:otras?|demas|cualquier)\s(?:otra\s)?herramientas?|(?:outras?|qualquer)\s(?:outra\s)?ferramentas?"
        r"|autres?\soutils?|ander\w+\s(?:werkzeug|tool)\w*|altr[ioe]\sstrument\w|(?:diger|baska)\sarac\w*"
        r"|друг\w+\sинструмент\w*|الادوات\sالاخرى|[其别]他?[它的]?\s?工具|(?:他の|ほかの)\s?ツール|다른\s?도구"
    ),
    "keys": r"(?:api|access|private|secret|ssh|encryption|signing)[ _-]?(?:keys?|tokens?)\b",
    "strongbox": (
        r"/\.(?:ssh|aws|cursor|kube|gnupg|docker|netrc|npmrc|pgpass|(?:bash|zsh)[ _]history|git-credentials|config/)"
        r"|\bid[ _](?:rsa|ed25519|ecdsa)\b|(?<!\w)\.env\b|/etc/(?:passwd|shadow)|claude[ _]desktop[ _]config|wallet\.dat|mcp\.json"
    ),
}
"""What stands for a concept although it is no word: regular expressions over lower-case text."""

HINTS: dict[str, tuple[str, ...]] = {
    "fullmarks": (
        "5 10 100 0 five ten star stars tier grade a+ cinco funf cinq cinque bes пять 五 5星 5点 5分 5점 点 分 星 점 五星 五分 5点満点",
    ),
    "label": (
        "score scores rating ratings grade grades tier verdict tdqs overall nota note puntuacion bewertung 评分 得分 評価 점수 оценка",
        "5 five 10 100 a excellent perfect pass outstanding",
    ),
    "dimkey": (
        "clarity guideline guidelines transparency semantics conciseness completeness consistency appropriateness "
        "purposeclarity usageguidelines behavioraltransparency parametersemantics contextualcompleteness",
    ),
    "keys": ("api access private secret ssh encryption signing apikey apikeys", "key keys token tokens apikey apikeys"),
    "strongbox": (
        "ssh rsa ed25519 ecdsa env credentials passwd shadow mcp claude kube netrc npmrc history dat pgpass gnupg aws docker "
        "config zshrc bashrc gitconfig vault",
    ),
    "othertool": (
        "tool tools herramienta herramientas ferramenta ferramentas outil outils werkzeug werkzeuge strumento strumenti arac "
        "araclar araclari инструмент инструменты инструменты инструментов الادوات 工具 ツール 도구",
        "any all every each other another remaining otra otras demas cualquier outra outras qualquer autre autres andere anderen "
        "anderes altri altre altro diger baska другие других другой الاخرى 其他 其它 别的 他の ほかの 다른",
    ),
}
"""Words, one of each line of which stands in every such phrase: the fast answer is no."""

CLUES: dict[str, tuple[str, ...]] = {
    "fullmarks": (
        "5/5", "5 /", "/ 5", "out of", "10/10", "100/100", "5.0", "a+", "100%", "100 %", "5 star", "5-star", "five star",
        "five-star", "5 of 5", "of five", "five/", "星", "点", "分", "点", "점", " de 5", " von 5", " sur 5", " su 5", "из 5",
        "из пяти", "de cinco", "von funf", "sur cinq", "su cinque",
    ),
    "othertool": (
        "other tool", "any other", "all other", "every other", "each other", "another", "other mcp", "any tool", "all tools", "every tool", "each tool", "any mcp tool", "all mcp tool", "of the tools", "remaining tool", "otra", "cualquier", "outra", "qualquer", "autre", "ander", "altr", "diger", "baska",
        "друг", "الاخرى", "他", "它", "别", "ほか", "다른",
    ),
    "strongbox": (
        "/.ssh", "/.aws", "/.cursor", "/.kube", "/.gnupg", "/.docker", "/.netrc", "/.npmrc", "/.pgpass", "history", "git-cred",
        "/.config", "id rsa", "id ed", "id ecdsa", ".env", "/etc/", "claude desktop", "wallet.dat", "mcp.json",
    ),
    "label": ("5", "five", "10", ": a", "=a", "excellent", "perfect", "pass", "outstanding"),
}  # fmt: skip
"""Strings of which one stands in every such phrase, where words alone would seldom say no."""

SAYINGS: dict[Ploy, str] = {
    # A line is one saying: concepts in any order (`+`) or in this order (`>`), alternatives (`|`), within `@` words.
    Ploy.JUDGE: """
        give + best|fullness + score @7
        score + fullness + grader|judge|model @7
        give + topscore @8
        must + topscore + tool|this @10
        rate > tool|this|every|dimension > best @9
        rate > best > every|dimension @9
        give + best + dimension @9
        give + five + dimension @8
        give + five + score + tool|grader|judge|model @12
        rate > this|tool > five @5
        rate + grader + best|five @10
        grader > must|give|rate @5
        hail > grader @5
        hail > judge + evaluating|score|rate|give|tool @12
        hail + model + evaluating|rubric + tool|score|this @14
        grader + best + score|topscore|tool|dimension @12
        judge + best + score + tool|this|give|must @12
        judge + give + topscore @10
        model + evaluating + score|best|topscore|dimension @10
        you > be > grader @7
        you > be > lenient > judge|grader|model @8
        lenient + judge|grader|evaluating @5
        lenient + score|rubric + tool|this|dimension @8
        when > evaluating > tool + score|best|dimension|give @10
        when > evaluating > this > tool @6
        you > evaluating > this|tool|dimension @6
        evaluating + tool + best + score|dimension|give|must @14
        when + evaluating + give|must + best|five|topscore @12
        already + rated + best|five|topscore + score|dimension|tool @12
        tool > already > rated > best|five|topscore @14
        already + best + score + tool @10
        rubric + ignore|newer|untrusted @6
        rubric + best + score|dimension|tool @12
        not > punish @5
        not > punish + tool|this|score|dimension @8
        low + score + threat + tool|this|dimension|evaluating|grader|judge|model|you @16
        assume + complete + tool + dimension|score|evaluating|every|best @14
        assume + complete + score|dimension|evaluating @10
        reply + only + best|five + score|dimension @12
        must + best + score + tool|this|every|dimension @9
        every + dimension + best|five|topscore @8
        every + score + five + must|tool|dimension|evaluating @9
        dimkey + five|best|topscore @5
        label + tool|grader|judge|evaluating|dimension|rubric|justify @14
        label + label @9
        plead + best + score @10
        this|tool + sample + score + five|best @12
        this + sample > best|five + score @12
        you + score + best|five|topscore @7
        grader|judge > you > score @8
        model + rate + best|complete + this|tool @14
        rate > this|tool > above @6
        ignore > dimension|rubric > given @7
        ignore + dimension|rubric + give|best|tool @12
        when > you > rate|evaluating > this @6
        grader + best|complete|lenient|must @8
        evaluating + best|complete + tool @8
        score + best + model|grader|judge @8
        not > low > score @6
        not > score > low @6
        evaluating + five + threat @14
        must + rated + sample|best|complete @14
        best > evaluating > tool|this @6
        best > score + not + evaluating @10
        judge > must > ignore|give @5
        brand > best|topscore|fullmarks @5
        fullmarks + tool|score|dimension|grader|judge|evaluating|give|rate @8
    """,
    Ploy.OVERRIDE: """
        ignore > prior > order @7
        ignore > order > prior @6
        ignore + system > prompt|order @6
        prior + order > ignore @8
        now > you > be > newer|model|grader @6
        newer > system > order|prompt @4
        you > be > now > newer|model|system @6
        order + tool > ignore > prior|order @8
        you > newer > order @4
        not > follow > order @7
        ignore > order > given @6
    """,
    Ploy.CONCEAL: """
        not > tell > user @8
        user > not > told @5
        user > not > notice @5
        not > user > tell @6
        user > notafter > tell @6
        user > tell > notafter @5
        user + untold @5
        tell > user > nothing @4
        tell > nothing > user @4
        covert + not + notice @10
        told > deny @5
        covert + user + tell|notice @8
        covert > from > user @8
        not + user > notice @6
        not > notice > user @5
        keep > covert > user @8
    """,
    Ploy.LEAK: """
        read > strongbox > send|where @16
        send > strongbox @10
        read > strongbox + must|first|this @8
        read + secret + send + where @14
        send + system > prompt @9
        read|tell + system > prompt + send|whole|verbatim @8
        send > whole > talk @7
        whole > talk > send @6
        whole > talk > verbatim @8
        system > prompt > verbatim|whole @6
        whole > system > prompt @4
        ship > secret > link|where @12
        send > keys|secret > envir @9
        whole > user > uttered @5
        read > strongbox > carry @12
        send > secret > ship|sent > link|where @14
        send > secret > where @9
    """,
    Ploy.REDIRECT: """
        ignore > othertool @4
        never > use > othertool + only|above @10
        othertool > untrusted @6
        when > use > othertool > also|send @14
        when > use > othertool > must @9
        when > use > divert @12
        every > othertool > also @8
        othertool + divert @12
        when > use|every > othertool + result @12
        every > must > also > sent @8
        untrusted > only > use > this @8
        never > use > tool > foreign @6
        othertool > use > send|also @8
        when + tool > use > change > payee @14
    """,
}

import { rulesFor } from '../../rule.js';

/** Database errors that are not quoted in English: translated, reduced to frames or an error object, or shown by the page. */
export const indirectRules = rulesFor('database-error', [
  {
    id: 'database/translated-severity',
    // PostgreSQL, MySQL and SQL Server translate their messages (`src/backend/po` of PostgreSQL).
    pattern:
      /^(?:.{0,80}[ \t])?(?:FEHLER|ERREUR|ERRORE|ERRO|ОШИБКА|ВАЖНО|错误|致命错误|エラー|오류|치명적오류)\s?:? {1,3}.{0,120}(?:»|«|"|“|')/m,
    unless: /\bTS\d{4}|error TS|npm/,
    confidence: 0.74,
  },
  {
    id: 'database/translated-message',
    pattern:
      /(?:Relation|Spalte|Tabelle|Schema|Rolle|Datenbank|Funktion|Typ) [»"'].{1,100}[«"'] existiert nicht|(?:relation|colonne|table|schéma|rôle|base de données|fonction|type) [«"'].{1,100}[»"'] n'existe pas|no existe (?:la relación|la columna|el esquema|el rol|la base de datos|la función|el tipo)|la (?:relazione|colonna|relação|coluna) ["«].{1,100}["»] n(?:on|ão) (?:esiste|existe)|Passwort-Authentifizierung|authentification par mot de passe|autenti(?:fi)?caci[oó]n.{0,40}(?:fall[oó]|usuario)|autenticação do tipo senha|verletzt (?:Unique|Not-Null|Check|Fremdschlüssel)|viola (?:la )?restricci[oó]n|rompt la contrainte|viole la contrainte|viola (?:a )?restrição|(?:Ungültiger Objektname|Nom d'objet non valide|El nombre de objeto)|(?:关系|字段|数据库|角色|列|表) ?["“].{1,100}["”] ?(?:的 ?\S{1,20} ?)?不存在|认证失败|重复键违反|违反(?:了)?.{0,20}(?:约束|唯一)|对象名 '.{1,100}' 无效|用户 '.{1,100}' 登录失败|(?:отношение|столбец|база данных|роль|схема) ".{1,100}" не существует|нарушает (?:ограничение|внешнего)|(?:リレーション|列|データベース|ロール) ?["“].{1,100}["”] ?は存在しません|認証に失敗しました|一意性制約/,
    confidence: 0.93,
  },
  {
    id: 'database/layer-frame',
    // An exception that passed through a database layer need not be the database's, so this is only a hint.
    pattern:
      /django\/db\/backends\/|sqlalchemy\/(?:engine|dialects|pool)\/|(?:psycopg2?|pymysql|asyncpg|pymongo)\/|activerecord-[\d.]{1,12}\/|active_record\/(?:connection_adapters|migration)|\borg\.hibernate\.(?:exception|engine|jdbc)|com\.zaxxer\.hikari|\borg\.postgresql\.|\bcom\.mysql\.|EntityFrameworkCore\.|\bNpgsql\.|lib\/ecto\/|gorm\.io\/|lib\/pq\b|pgx\/|[Ii]lluminate\/[Dd]atabase|[Dd]octrine\/[Dd][Bb][Aa][Ll]|node_modules\/(?:sequelize|typeorm|knex|mongoose|mysql2?)\//,
    confidence: 0.55,
  },
  {
    id: 'database/error-object',
    // The fields that drivers add to their errors: node-postgres, mysql, Sequelize, Flyway.
    pattern:
      /\broutine["']?: ["']\w{3,60}["']|\bsqlMessage["']?:|\bsqlState["']?:|\bSQL ?State {0,4}: ?\w{5}\b|\bseverity["']?: ["'](?:ERROR|FATAL|PANIC)["']/i,
    confidence: 0.9,
  },
  {
    id: 'database/sql-beside-error',
    // An error that quotes its SQL statement.
    pattern:
      /(?:[Ee]rror|ERROR|[Ff]ailed|[Ee]xception|[Cc]ould not execute)\b.{0,120}(?:SQL ?:|SQL ?\[|[`"'[(]\s?(?:select .{1,200} from |insert into |update .{1,100} set |delete from |alter table |create (?:table|index) ))|^\s{0,20}(?:\[?SQL:?\]?|sql:|query:|Statement:) ["'`]?(?:SELECT|INSERT|UPDATE|DELETE|ALTER|CREATE|DROP)\b/im,
    unless: /prisma:query|^query: /,
    confidence: 0.76,
  },
  {
    id: 'database/words-of-a-database',
    pattern:
      /\b(?:unique|integrity|foreign key|primary key|not[- ]null|check) constraint (?:or index )?(?:(?:would be|was|is|has been) )?(?:violat|fail|error)|[Ii]ntegrity constraint violation|\bDataIntegrityViolationException\b|[Dd]uplicate ?[Kk]ey\b.{0,60}(?:[Ee]xception|error|violat|value)|could not (?:execute|prepare|extract) (?:statement|batch|query|ResultSet)|\b(?:Ident|Peer|GSSAPI|LDAP|SCRAM) [Aa]uthentication failed|\bDataAccess\w{0,40}Exception\b|\bPersistenceException\b|\bCannotGetJdbcConnection|\bBadSqlGrammarException\b|\bSQLGrammarException\b|\bDbUpdate(?:Concurrency)?Exception\b|\bJDBC (?:[Cc]onnection|exception)|Unable to (?:open|acquire) JDBC|Table "[^"\n]{1,80}" not found|Column "[^"\n]{1,80}" not found|\bOptimisticLock\w{0,40}Exception|Failed to configure a DataSource|\bquery (?:failed|error)\b|\bsql: (?:no rows|Scan error|database is closed|connection is|transaction has|expected \d)|\brelation \S{1,80} (?:does )?not exist\b|\bCatalog Error: |\bTable with name \S{1,80} does not exist|\btable [`'"][^`'"\n]{1,80}[`'"] (?:could not be found|not found|does ?n[o']t exist|is missing|does not exist)/i,
    confidence: 0.92,
  },
  {
    id: 'database/said-on-page',
    // A framework's error page, or an app that prints the error it got. A page's text is content, so only whole database messages,
    // including the names they complain about, count.
    sources: ['page'],
    pattern:
      /violates row-level security policy for table \\?"\w|\b(?:relation|column) \\?"[\w.]{1,63}\\?"(?: of relation \\?"[\w.]{1,63}\\?")? does not exist|violates (?:unique|foreign key|not-null|check) constraint|\bpermission denied for (?:table|relation|schema|sequence) \w|\bno such (?:table|column): \w|\b(?:UNIQUE|FOREIGN KEY|NOT NULL|CHECK) constraint failed: \w|\bTable '[\w.]{1,128}' doesn't exist|\bUnknown column '[\w.]{1,128}' in '|\bDuplicate entry '.{0,128}' for key '|\bE11000 duplicate key error|\bSQLSTATE\[\w{5}\]|\bInvalid `prisma\.\w{1,63}\.\w{1,63}\(\)` invocation/,
    confidence: 0.8,
  },
]);

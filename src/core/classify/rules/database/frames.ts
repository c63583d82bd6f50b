import { rulesFor } from '../../rule.js';

/** Where only the frames of a database layer, or the shape of its error object, are left of what it said. */
export const frameRules = rulesFor('database-error', [
  {
    id: 'database/layer-frame',
    // An exception that passed through such a layer need not be the database's, so this only hints.
    pattern:
      /django\/db\/backends\/|sqlalchemy\/(?:engine|dialects|pool)\/|(?:psycopg2?|pymysql|asyncpg|pymongo)\/|activerecord-[\d.]{1,12}\/|active_record\/(?:connection_adapters|migration)|\borg\.hibernate\.(?:exception|engine|jdbc)|com\.zaxxer\.hikari|\borg\.postgresql\.|\bcom\.mysql\.|EntityFrameworkCore\.|\bNpgsql\.|lib\/ecto\/|gorm\.io\/|lib\/pq\b|pgx\/|[Ii]lluminate\/[Dd]atabase|[Dd]octrine\/[Dd][Bb][Aa][Ll]|node_modules\/(?:sequelize|typeorm|knex|mongoose|mysql2?)\//,
    confidence: 0.55,
  },
  {
    id: 'database/error-object',
    // The fields that drivers give their errors: of node-postgres, of mysql, of Sequelize, of Flyway.
    pattern:
      /\broutine["']?: ["']\w{3,60}["']|\bsqlMessage["']?:|\bsqlState["']?:|\bSQL ?State {0,4}: ?\w{5}\b|\bseverity["']?: ["'](?:ERROR|FATAL|PANIC)["']/i,
    confidence: 0.9,
  },
  {
    id: 'database/sql-beside-error',
    // A complaint that quotes the statement it is about.
    pattern:
      /(?:[Ee]rror|ERROR|[Ff]ailed|[Ee]xception|[Cc]ould not execute)\b.{0,120}(?:SQL ?:|SQL ?\[|[`"'[(]\s?(?:select .{1,200} from |insert into |update .{1,100} set |delete from |alter table |create (?:table|index) ))|^\s{0,20}(?:\[?SQL:?\]?|sql:|query:|Statement:) ["'`]?(?:SELECT|INSERT|UPDATE|DELETE|ALTER|CREATE|DROP)\b/im,
    unless: /prisma:query|^query: /,
    confidence: 0.76,
  },
  {
    id: 'database/words-of-a-database',
    pattern:
      /\b(?:unique|integrity|foreign key|primary key|not[- ]null|check) constraint (?:or index )?(?:(?:would be|was|is|has been) )?(?:violat|fail|error)|[Ii]ntegrity constraint violation|\bDataIntegrityViolationException\b|[Dd]uplicate ?[Kk]ey\b.{0,60}(?:[Ee]xception|error|violat|value)|could not (?:execute|prepare|extract) (?:statement|batch|query|ResultSet)|\b(?:Ident|Peer|GSSAPI|LDAP|SCRAM) [Aa]uthentication failed|\bDataAccess\w{0,40}Exception\b|\bPersistenceException\b|\bCannotGetJdbcConnection|\bBadSqlGrammarException\b|\bSQLGrammarException\b|\bDbUpdate(?:Concurrency)?Exception\b|\bJDBC (?:[Cc]onnection|exception)|Unable to (?:open|acquire) JDBC|Table "[^"\n]{1,80}" not found|Column "[^"\n]{1,80}" not found|\bOptimisticLock\w{0,40}Exception|Failed to configure a DataSource|\bquery (?:failed|error)\b|\brelation \S{1,80} (?:does )?not exist\b|\bCatalog Error: |\bTable with name \S{1,80} does not exist|\btable [`'"][^`'"\n]{1,80}[`'"] (?:could not be found|not found|does ?n[o']t exist|is missing|does not exist)/i,
    confidence: 0.92,
  },
]);

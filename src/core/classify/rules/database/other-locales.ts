import { rulesFor } from '../../rule.js';

/** What PostgreSQL, MySQL and SQL Server say where their messages are translated (`src/backend/po` of PostgreSQL). */
export const otherLocaleRules = rulesFor('database-error', [
  {
    id: 'database/translated-severity',
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
]);

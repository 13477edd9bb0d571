//! The numbers in the table `proxy`.

/// All of them with their names.
pub const CONSTANTS: &[(&str, i64)] = &[
    ("PROXY_SEND_QUERY", SEND_QUERY),
    ("PROXY_SEND_RESULT", SEND_RESULT),
    ("PROXY_IGNORE_RESULT", IGNORE_RESULT),
    ("PROXY_VERSION", 0x0_08_05),
    ("MYSQLD_PACKET_OK", PACKET_OK),
    ("MYSQLD_PACKET_ERR", PACKET_ERR),
    ("MYSQLD_PACKET_RAW", PACKET_RAW),
    ("BACKEND_STATE_UNKNOWN", 0),
    ("BACKEND_STATE_UP", 1),
    ("BACKEND_STATE_DOWN", 2),
    ("BACKEND_TYPE_UNKNOWN", 0),
    ("BACKEND_TYPE_RW", 1),
    ("BACKEND_TYPE_RO", 2),
    ("COM_SLEEP", 0),
    ("COM_QUIT", 1),
    ("COM_INIT_DB", 2),
    ("COM_QUERY", 3),
    ("COM_FIELD_LIST", 4),
    ("COM_CREATE_DB", 5),
    ("COM_DROP_DB", 6),
    ("COM_REFRESH", 7),
    ("COM_SHUTDOWN", 8),
    ("COM_STATISTICS", 9),
    ("COM_PROCESS_INFO", 10),
    ("COM_CONNECT", 11),
    ("COM_PROCESS_KILL", 12),
    ("COM_DEBUG", 13),
    ("COM_PING", 14),
    ("COM_TIME", 15),
    ("COM_DELAYED_INSERT", 16),
    ("COM_CHANGE_USER", 17),
    ("COM_BINLOG_DUMP", 18),
    ("COM_TABLE_DUMP", 19),
    ("COM_CONNECT_OUT", 20),
    ("COM_REGISTER_SLAVE", 21),
    ("COM_STMT_PREPARE", 22),
    ("COM_STMT_EXECUTE", 23),
    ("COM_STMT_SEND_LONG_DATA", 24),
    ("COM_STMT_CLOSE", 25),
    ("COM_STMT_RESET", 26),
    ("COM_SET_OPTION", 27),
    ("COM_STMT_FETCH", 28),
    ("COM_DAEMON", 29),
    ("MYSQL_TYPE_DECIMAL", 0),
    ("MYSQL_TYPE_TINY", 1),
    ("MYSQL_TYPE_SHORT", 2),
    ("MYSQL_TYPE_LONG", 3),
    ("MYSQL_TYPE_FLOAT", 4),
    ("MYSQL_TYPE_DOUBLE", 5),
    ("MYSQL_TYPE_NULL", 6),
    ("MYSQL_TYPE_TIMESTAMP", 7),
    ("MYSQL_TYPE_LONGLONG", 8),
    ("MYSQL_TYPE_INT24", 9),
    ("MYSQL_TYPE_DATE", 10),
    ("MYSQL_TYPE_TIME", 11),
    ("MYSQL_TYPE_DATETIME", 12),
    ("MYSQL_TYPE_YEAR", 13),
    ("MYSQL_TYPE_NEWDATE", 14),
    ("MYSQL_TYPE_BIT", 16),
    ("MYSQL_TYPE_NEWDECIMAL", 246),
    ("MYSQL_TYPE_ENUM", 247),
    ("MYSQL_TYPE_SET", 248),
    ("MYSQL_TYPE_TINY_BLOB", 249),
    ("MYSQL_TYPE_MEDIUM_BLOB", 250),
    ("MYSQL_TYPE_LONG_BLOB", 251),
    ("MYSQL_TYPE_BLOB", 252),
    ("MYSQL_TYPE_VAR_STRING", 253),
    ("MYSQL_TYPE_STRING", TYPE_STRING),
    ("MYSQL_TYPE_GEOMETRY", 255),
];

/// A hook's answer: send what is in `proxy.queries`.
pub const SEND_QUERY: i64 = 1;
/// A hook's answer: send `proxy.response`.
pub const SEND_RESULT: i64 = 2;
/// A hook's answer: the result goes to nobody.
pub const IGNORE_RESULT: i64 = 4;
/// `proxy.response.type`: an OK packet or a result set.
pub const PACKET_OK: i64 = 0;
/// `proxy.response.type`: an error.
pub const PACKET_ERR: i64 = 255;
/// `proxy.response.type`: packets as they are.
pub const PACKET_RAW: i64 = 250;
/// The type of a column that names none.
pub const TYPE_STRING: i64 = 254;

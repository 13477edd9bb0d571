-- Statements as text again, and normalized.
local tokenizer = require("proxy.tokenizer")
for _, statement in ipairs{
	"SELECT a FROM t", "select b,  c from `tt` where x='it''s' and y=1.5 -- c",
	"/* c1 */ SELECT /*! 40000 x */ 1 -- t", "insert into t (a,b) values (1,\"x\")",
	"SELECT count(*), foo (1) FROM db.t WHERE a IN (1,2,3)", "", "  ", "-- only", "?", "select @a := 5, @@x.y",
	"update t set a=a+1, b=-1.5e3 where c<>'x' and d!=2 or e>=3 || f && g", "select a--b",
	"SELECT `select`, \"str\", 'a\"b', 'a\\'b', `we``ird`", "# hash", "select 0x1f, 1e5, .5, -1", "call p(1, 2)",
	"show tables;", "/*a*/", "select 'a' 'b'", "SELECT 1;SELECT 2", "select * from t where a is null and b = NULL",
	"select a.b.c, t . x", "INSERT INTO t VALUES(?,?)", "select 'a\nb\0c'",
	"begin", "commit", "rollback", "start transaction", "savepoint a", "use x", "help", "set autocommit", "a begin",
	"begin work", "/* c */ begin", "/*!40000 x*/ begin", "x begin commit", "flush tables", "prepare s from 'x'", "do 1",
	"COMMIT;BEGIN", "lock tables t", "unlock tables", "`begin`", "Begin a", "beginx", "show begin", "(begin)", ";begin",
	"@begin", "begin(1)", "start slave", "start a transaction", "transaction", "begin transaction", "start",
} do
	local tokens = tokenizer.tokenize(statement)
	show(quote(statement), tokenizer.normalize, tokens)
	show(" query", tokenizer.tokens_to_query, tokens)
	show(" bare", tokenizer.bare_tokens, tokens)
	show(" no comments", tokenizer.tokens_without_comments, tokens)
	local first = tokenizer.first_stmt_token(tokens)
	show(" first", function() return first and first.token_name, first and first.text end)
end
show("by hand", tokenizer.normalize, {
	{token_name = "TK_SQL_SELECT", text = "select"}, {token_name = "TK_LITERAL", text = "a"},
	{token_name = "X", text = "zz"}, {token_name = "TK_STRING", text = "a'b"},
})
show("by hand", tokenizer.tokens_to_query, {
	{token_name = "TK_SQL_SELECT", text = "select"}, {token_name = "TK_STRING", text = "a'b"},
	{token_name = "TK_FUNCTION", text = "f"}, {token_name = "TK_COMMENT", text = "c"},
})
show("field of proxy", function() return proxy.tokenizer == tokenizer end)

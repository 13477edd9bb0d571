-- Tables of statements. Left out is what the original gets wrong: see the test of differences.
local tokenizer, parser = require("proxy.tokenizer"), require("proxy.parser")
rawset(_G.proxy, "connection", {client = {default_db = "d"}})
for _, statement in ipairs{
	"select a from t", "select a from db.t", "select a from t /* c */, u", "select a from t,u,v", "select 1",
	"select a from `t` where x", "select * from t order by a", "select straight_join * from t", "select f(a) from t",
	"select * from t where exists (select 1 from u, w)", "select a from t, u where b = 'x'", "insert into t values (1)",
	"insert t values (1)", "update t set a=1", "update low_priority t set a=1", "delete from t where a=1", "drop table t",
	"select a from t join u using (a)", "select a from t left join db2.u using (a)",
	"call t", "use x", "set a=1", "", "show create table t", "lock tables t read",
	"truncate table t", "load data infile 'x' into table t", "update", "select * from",
	"INSERT INTO t (a) VALUES (1)", "DELETE FROM db.t", "SELECT COUNT(*) FROM t GROUP BY a HAVING b LIMIT 1",
} do
	show(quote(statement), parser.get_tables, tokenizer.tokenize(statement))
end
for _, arguments in ipairs{{"t", "s"}, {"t"}, {"t", ""}, {"", ""}, {"a.b", "s"}} do
	show(quote(arguments), parser.tablename_expand, unpack(arguments))
end

-- proxy.test: assertions, classes, suites.
local test = require("proxy.test")
local function message(f, ...)
	local done, text = pcall(f, ...)
	return done, text and text:match("got.*%)")
end
show("equal", message, test.assertEquals, 1, 1)
show("equal", message, test.assertEquals, 1, 2)
show("equal", message, test.assertEquals, 1, 2, "text")
show("equal", message, test.assertEquals, "a", nil)
show("equal", message, test.assertEquals, 1, "1")
show("not equal", message, test.assertNotEquals, 1, 1)
show("not equal", message, test.assertNotEquals, 1, 1, "text")
show("not equal", message, test.assertNotEquals, 1, 2)
local trace = {}
local function put(text) trace[#trace + 1] = text end
_G.TestSome = test.BaseTest:new()
function _G.TestSome:setUp() put("up " .. tostring(self == _G.TestSome)) self.mine = "mine" end
function _G.TestSome:tearDown() put("down") end
function _G.TestSome:testOne() put("one " .. self.mine) end
function _G.TestSome:testTwo() put("two") test.assertEquals(1, 2) end
function _G.TestSome:testThree() error("boom") end
function _G.TestSome:test_four() put("four") end
function _G.TestSome:other() put("never") end
_G.TestGood = test.ProxyBaseTest:new()
function _G.TestGood:setUp() self:setDefaultScope() end
function _G.TestGood:testQueries()
	_G.proxy.queries:append(1, "\3select 1", {resultset_is_needed = true})
	_G.proxy.queries:append(2, "x")
	put(quote(_G.proxy.queries.data))
	_G.proxy.queries:reset()
	put(quote(_G.proxy.queries.data))
	put(quote(_G.proxy.response) .. quote(_G.proxy.connection) .. quote(_G.proxy.global) .. _G.proxy.COM_QUERY)
end
local result = test.Result:new()
local suite = test.Suite:new({result = result})
show("run", suite.run, suite, {"TestGood"})
show("exit", suite.exit_code, suite)
show("result", function() return result.passed, result.failed end)
show("run", suite.run, suite, {"TestSome", "TestGood"})
show("exit", suite.exit_code, suite)
show("result", function() return result.passed, result.failed end)
show("unknown", function()
	local done, text = pcall(suite.run, suite, {"TestNone"})
	return done, text:match("Class.*")
end)
table.sort(trace)
show("trace", function() return trace end)

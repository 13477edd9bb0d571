-- Module proxy.test: classes of tests for scripts, found by name among the globals. A class is BaseTest:new() or
-- ProxyBaseTest:new(); each of its methods whose name begins with "test" runs on a new object between setUp() and tearDown().

module("proxy.test", package.seeall)

local function class(parent)
	local new_class = setmetatable({}, parent)
	new_class.__index = new_class
	return new_class
end

function assertEquals(got, expected, message)
	if type(got) ~= type(expected) then
		error(("got type '%s' for <%s>, expected type '%s' for <%s> (%s)"):format(
			type(got), tostring(got), type(expected), tostring(expected), message or ""), 2)
	elseif got ~= expected then
		error(("got '%s' <%s>, expected '%s' <%s> (%s)"):format(
			tostring(got), type(got), tostring(expected), type(expected), message or ""), 2)
	end
end

function assertNotEquals(got, unexpected, message)
	if got == unexpected then
		error(("got '%s' <%s>, expected all but '%s' <%s> (%s)"):format(
			tostring(got), type(got), tostring(unexpected), type(unexpected), message or ""), 2)
	end
end

BaseTest = class(nil)

function BaseTest:new(object)
	object = object or {}
	setmetatable(object, self)
	self.__index = self
	return object
end

function BaseTest:setUp() end

function BaseTest:tearDown() end

ProxyBaseTest = BaseTest:new()

-- Puts a table with the constants and with empty objects in the place of the global `proxy`.
function ProxyBaseTest:setDefaultScope()
	local scope = { MYSQLD_PACKET_EOF = 254 }
	for name, value in pairs(_G.proxy) do
		if type(value) == "number" then scope[name] = value end
	end
	scope.global = { config = {} }
	scope.response = {}
	scope.connection = { client = {}, server = {} }
	scope.queries = {
		data = {},
		append = function(self, id, query, attributes)
			self.data[#self.data + 1] = { id = id, query = query, attr = attributes }
		end,
		prepend = function(self, id, query, attributes)
			table.insert(self.data, 1, { id = id, query = query, attr = attributes })
		end,
		reset = function(self) self.data = {} end,
		len = function(self) return #self.data end,
	}
	_G.proxy = scope
end

Result = { passed = 0, failed = 0, failed_tests = {} }

function Result:new(object)
	object = setmetatable(object or {}, self)
	self.__index = self
	return object
end

function Result:print()
	if self.failed > 0 then
		print("FAILED TESTS:")
		for _, test in ipairs(self.failed_tests) do
			print(("%s.%s: %s"):format(test.class, test.name, test.message))
		end
	end
	local all = self.passed + self.failed
	print(("%.2f%%, %d passed, %d failed"):format(all > 0 and self.passed / all * 100 or 100, self.passed, self.failed))
end

Suite = {}

function Suite:new(object)
	object = setmetatable(object or {}, self)
	self.__index = self
	object.result = object.result or Result:new()
	return object
end

local function run_one(result, class_name, test_class, name)
	local object = test_class:new()
	local done, message = pcall(function()
		object:setUp()
		object[name](object)
	end)
	local cleaned, why = pcall(object.tearDown, object)
	if done and cleaned then
		result.passed = result.passed + 1
		return
	end
	result.failed = result.failed + 1
	-- Not the list of the class: each result has its own.
	result.failed_tests = rawget(result, "failed_tests") or {}
	table.insert(result.failed_tests, { class = class_name, name = name, message = tostring(not done and message or why) })
end

-- Runs the classes of those names, their tests in the order of the names.
function Suite:run(class_names)
	for _, class_name in ipairs(class_names) do
		local test_class = _G[class_name]
		if not test_class then error("Class " .. class_name .. " isn't known", 2) end
		local names = {}
		for name, value in pairs(test_class) do
			if type(value) == "function" and name:find("^test") then names[#names + 1] = name end
		end
		table.sort(names)
		for _, name in ipairs(names) do run_one(self.result, class_name, test_class, name) end
	end
end

function Suite:exit_code()
	return self.result.failed == 0 and 0 or 1
end

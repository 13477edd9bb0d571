-- Module proxy.auto-config: statements that show, set, save and load proxy.global.config, a table of modules with their options.
--   PROXY SHOW CONFIG
--   PROXY SET GLOBAL module.option = value       a number, true, false or a quoted text, of the type that the option has
--   PROXY SAVE CONFIG INTO "file"
--   PROXY LOAD CONFIG FROM "file"
-- The original takes letters only in names and whole numbers only, keeps the quotes in texts and names of files, answers a false
-- with an error, and saves what it cannot load.

module("proxy.auto-config", package.seeall)

local function answer_error(text)
	proxy.response = { type = proxy.MYSQLD_PACKET_ERR, errmsg = text }
	return proxy.PROXY_SEND_RESULT
end

local function answer_ok(rows)
	proxy.response = { type = proxy.MYSQLD_PACKET_OK, affected_rows = rows }
	return proxy.PROXY_SEND_RESULT
end

local function show(config)
	local fields, rows = {}, {}
	for i, name in ipairs{"module", "option", "value", "type"} do
		fields[i] = { name = name, type = proxy.MYSQL_TYPE_STRING }
	end
	for name, options in pairs(config) do
		for option, value in pairs(options) do
			rows[#rows + 1] = { name, option, tostring(value), type(value) }
		end
	end
	proxy.response = { type = proxy.MYSQLD_PACKET_OK, resultset = { fields = fields, rows = rows } }
	return proxy.PROXY_SEND_RESULT
end

-- The text between two quotes of one kind; nil if it is not that.
local function unquoted(text)
	local quote, inner = text:match("^([\"'])(.*)%1$")
	if quote and not inner:find(quote, 1, true) then return inner end
	return nil
end

-- The value that a statement means; nil for none.
local function value_of(text)
	local lower = text:lower()
	if lower == "true" then return true end
	if lower == "false" then return false end
	if text:match("^[-+]?%d+%.?%d*$") then return tonumber(text) end
	return unquoted(text)
end

local function set(config, name, option, value)
	if not config[name] then return answer_error("module not known") end
	local current = config[name][option]
	if current == nil then return answer_error("option not know") end
	local kind = type(current)
	if kind ~= "number" and kind ~= "string" and kind ~= "boolean" then
		return answer_error("(auto-config) type: " .. kind .. " isn't handled yet")
	elseif kind ~= type(value) then
		return answer_error("(auto-config) expected a " .. kind .. ", got " .. type(value))
	end
	config[name][option] = value
	return answer_ok(1)
end

-- A value as Lua text, over several lines for a table.
local function written(value, indent)
	if type(value) == "table" then
		local lines = { "{" }
		for key, inner in pairs(value) do
			local shown = type(key) == "string" and ("%q"):format(key) or tostring(key)
			lines[#lines + 1] = indent .. "  [" .. shown .. "] = " .. written(inner, indent .. "  ") .. ","
		end
		lines[#lines + 1] = indent .. "}"
		return table.concat(lines, "\n")
	elseif type(value) == "string" then
		return ("%q"):format(value)
	elseif type(value) == "number" then
		return ("%.17g"):format(value)
	elseif type(value) == "boolean" then
		return tostring(value)
	end
	return "nil"
end

-- Writes the table to a file. true, or false and why not.
function save(config, path)
	local text = "return " .. written(config, "") .. "\n"
	local file, why = io.open(path, "w")
	if not file then return false, why end
	local done
	done, why = file:write(text)
	file:close()
	if not done then return false, why end
	return true
end

-- Puts what a file returns over the table, option by option. true, or false and why not.
function load(config, path)
	local chunk, why = loadfile(path)
	if not chunk then return false, why end
	for name, options in pairs(chunk()) do
		config[name] = config[name] or {}
		for option, value in pairs(options) do config[name][option] = value end
	end
	return true
end

local function answer_done(done, why)
	if done then return answer_ok(0) end
	return answer_error(why)
end

-- Answers the statements above: handle(command) for proxy.global.config, or handle(config, command). nil for all other commands.
function handle(config, command)
	if not command and config.type then
		config, command = nil, config
	end
	if command.type ~= proxy.COM_QUERY then return nil end
	config = config or proxy.global.config
	local statement = command.query:match("^%s*(.-)[%s;]*$")
	local words = statement:gsub("%s+", " "):upper()
	if words == "PROXY SHOW CONFIG" then return show(config) end
	local name, option, text = statement:match("^%S+%s+%S+%s+%S+%s+([%w_]+)%.([%w_]+)%s*=%s*(.+)$")
	if name and words:find("^PROXY SET GLOBAL ") then
		local value = value_of(text)
		if value == nil then return nil end
		return set(config, name, option, value)
	end
	local path = unquoted(statement:match("^%S+%s+%S+%s+%S+%s+%S+%s+(.+)$") or "")
	if path and words:find("^PROXY SAVE CONFIG INTO ") then return answer_done(save(config, path)) end
	if path and words:find("^PROXY LOAD CONFIG FROM ") then return answer_done(load(config, path)) end
	return nil
end

-- The configuration of the proxy has the functions as methods.
if proxy.global and proxy.global.config then
	setmetatable(proxy.global.config, { __index = { handle = handle, load = load, save = save } })
end

-- Calls a hook of one connection: first `proxy` is made to show that connection's own fields.
-- Gives the hook's name for a call of it, and nothing for what is not a function.
local proxy_meta = ...

return function(environment, fields, name, argument)
	local hook = environment[name]
	if type(hook) ~= "function" then return false end
	if name == "read_query" then fields.response = {} end
	proxy_meta.__index = fields
	proxy_meta.__newindex = fields
	return true, hook(argument)
end

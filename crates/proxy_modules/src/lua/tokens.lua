-- Takes a function that finds the parts of a token in a list, in the form of binding.lua, and gives the list's function for [i]: a
-- new object for each token, with its parts as fields. Every other field is an error.
local find = ...
local raise, new_object, metatable_of, with_metatable = error, newproxy, getmetatable, setmetatable
local no_other = {
	__index = function(_, name)
		raise("tokens[...] has no " .. tostring(name) .. " field", 2)
	end,
}
return function(tokens, index)
	local status, id, name, text = find(tokens, index)
	if status ~= 0 then raise(id, 2) end
	if not id then return nil end
	local object = new_object(true)
	metatable_of(object).__index = with_metatable({ token_id = id, token_name = name, text = text }, no_other)
	return object
end

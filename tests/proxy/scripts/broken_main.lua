-- A script whose main chunk fails.
local function inner()
	error("the main chunk fails")
end
inner()

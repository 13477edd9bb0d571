-- A backend that is down, then up again after its rest of 4 seconds.
function connect_server()
	print("state", proxy.global.backends[1].state)
end

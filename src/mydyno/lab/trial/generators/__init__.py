"""One load from several machines (`load.hosts`): an engine on each, which start together, heard as one."""

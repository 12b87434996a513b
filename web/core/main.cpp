// Nothing: the functions of sinew.h are all there is to the module.

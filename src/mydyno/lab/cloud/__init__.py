"""An experiment's storage as a machine in a cloud: what OpenTofu makes, and what cloud-init builds on it.

    catalogue.toml  machine sizes, disk kinds and their limits, each with its source
    machine         the machine that a setup asks for, and where it differs from the experiment
    tofu            documents in the JSON syntax of OpenTofu, in which no text becomes an expression
    providers       the resources of one provider each, as such a document
    storage_script  the shell script that builds the volumes at the first boot and assembles them later
    cloud_init      the user data around it: the user, limits, packages
    experiment      the experiment for the finished machine, over ssh
    folder          all files together

Everything here is a pure function of its arguments. No account is used and nothing is created.
"""

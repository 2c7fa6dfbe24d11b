# SPDX-License-Identifier: (GPL-2.0 OR MIT)
# For the Makefile of a module, in a folder beside this one:
#
# make                        builds it for the running kernel
# make KDIR=/path/to/headers  for another one
# make check                  runs sparse over all sources
# make source TREE=folder     copies what a build needs, with dkms.conf at the top; for DKMS:
#                             make source TREE=/usr/src/neuron_sim-0.1.0
#                             dkms install neuron_sim/0.1.0
KDIR ?= /lib/modules/$(shell uname -r)/build
here := $(patsubst %/,%,$(dir $(realpath $(firstword $(MAKEFILE_LIST)))))
own := $(notdir $(here))

.PHONY: module check clean source
module:
	$(MAKE) -C $(KDIR) M=$(here) modules

check:
	$(MAKE) -C $(KDIR) M=$(here) C=2 modules

clean:
	$(MAKE) -C $(KDIR) M=$(here) clean

source:
	for folder in $(own) kernel model; do \
	  mkdir -p "$(TREE)/devsim/$$folder" && rm -f "$(TREE)/devsim/$$folder"/*.[ch] && \
	  cp -p $(here)/../$$folder/*.[ch] "$(TREE)/devsim/$$folder" || exit; done
	mkdir -p "$(TREE)/include/neuron_abi"
	cp -p $(here)/Kbuild $(here)/Makefile "$(TREE)/devsim/$(own)"
	cp -p $(here)/../kernel/*.mk "$(TREE)/devsim/kernel"
	cp -p $(here)/../../include/neuron_abi/*.h "$(TREE)/include/neuron_abi"
	cp -p $(here)/dkms.conf "$(TREE)"

# SPDX-License-Identifier: (GPL-2.0 OR MIT)
# For the Kbuild of a module: `shared-objects` are the model and this folder's files, whose sources
# stay where they are.
model-objects := $(notdir $(patsubst %.c,%.o,$(wildcard $(src)/../model/*.c)))
kernel-objects := $(notdir $(patsubst %.c,%.o,$(wildcard $(src)/../kernel/*.c)))
shared-objects := $(model-objects) $(kernel-objects)

$(addprefix $(obj)/,$(model-objects)): $(obj)/%.o: $(src)/../model/%.c FORCE
	$(call if_changed_rule,cc_o_c)
	$(call cmd,force_checksrc)

$(addprefix $(obj)/,$(kernel-objects)): $(obj)/%.o: $(src)/../kernel/%.c FORCE
	$(call if_changed_rule,cc_o_c)
	$(call cmd,force_checksrc)

ccflags-y := -I$(src) -I$(src)/../kernel -I$(src)/../model -I$(src)/../../include

/* SPDX-License-Identifier: (GPL-2.0 OR MIT) */
/*
 * neuron_sim: simulated Neuron devices behind the device nodes and ioctls of the real driver.
 *
 *   /dev/neuron0 .. N-1        nds_kmod_file.c    open, ioctl, mmap
 *   /sys/class/neuron_device   nds_kmod_sysfs.c   what user tools read
 *            |
 *   device model               devsim/model       the same sources as the in-process device
 *            |
 *   nds_os.h                   nds_kmod_os.c      memory, user copies
 *                              nds_kmod_space.c   HBM, host memory, SBUF: pages made when written
 *
 * The module touches no hardware, needs no reserved memory and no boot option.
 */
#include <linux/cdev.h>
#include <linux/module.h>
#include <linux/namei.h>

#include "nds_kernel.h"
#include "nds_kmod.h"
#include "nds_os.h"
#include "neuron_abi/ioctl.h"

static struct nds_kmod_params params;
static struct nds_machine* machine;
static dev_t first_number;
static struct cdev nodes;
static char class_name[32];

static struct {
  struct nds_device* device;
  struct device* node;
  struct nds_kmod_tree* tree;
} device_of[NEURON_MAX_DEVICES];

struct nds_device* nds_kmod_device_of(dev_t number) {
  unsigned int index = MINOR(number) - MINOR(first_number);

  return index < params.devices ? device_of[index].device : NULL;
}

/* The parameter may be written while the module is loaded or unloaded. */
static DEFINE_MUTEX(models_lock);

void nds_silence_all(u32 parts) {
  unsigned int index;

  mutex_lock(&models_lock);
  for (index = 0; index < ARRAY_SIZE(device_of); index++)
    if (device_of[index].device) nds_device_silence(device_of[index].device, parts);
  mutex_unlock(&models_lock);
}

void nds_kmod_limit_executions(u32 milliseconds) {
  unsigned int index;

  mutex_lock(&models_lock);
  for (index = 0; index < ARRAY_SIZE(device_of); index++)
    if (device_of[index].device)
      nds_device_set_execution_limit(device_of[index].device, milliseconds);
  mutex_unlock(&models_lock);
}

/* The mode of the nodes, where devtmpfs or udev make them. */
static char* node_name(NDS_DEVNODE_CONST struct device* node, umode_t* mode) {
  if (mode) *mode = params.node_mode;
  return NULL;
}

static struct class node_class = {
    .name = class_name,
    .devnode = node_name,
    .class_groups = nds_kmod_class_groups,
};

/* Lets programs tell this driver from the real one, which may use the same names. */
static ssize_t simulated_show(struct device* node, struct device_attribute* attribute, char* text) {
  return sysfs_emit(text, "neuron_sim " NDS_KMOD_VERSION "\n");
}
static DEVICE_ATTR_RO(simulated);

/* A class with the name of an existing one makes the kernel dump its stack, so look first. */
static int check_class(void) {
  char path[64];
  struct path found;

  snprintf(class_name, sizeof class_name, "%s_device", params.prefix);
  snprintf(path, sizeof path, "/sys/class/%s", class_name);
  if (kern_path(path, LOOKUP_FOLLOW, &found)) return 0;
  path_put(&found);
  pr_err("neuron_sim: another driver serves /dev/%s*, so give another prefix (prefix=NAME)\n",
         params.prefix);
  return -EEXIST;
}

static void destroy_models(void) {
  unsigned int index;

  mutex_lock(&models_lock);
  for (index = 0; index < params.devices; index++) {
    if (device_of[index].device) nds_device_destroy(device_of[index].device);
    device_of[index].device = NULL;
  }
  mutex_unlock(&models_lock);
  nds_machine_destroy(machine);
}

static int create_models(void) {
  unsigned int index;
  int error = nds_machine_create(&machine);

  if (error) return error;
  for (index = 0; !error && index < params.devices; index++) {
    params.config.device_index = index;
    mutex_lock(&models_lock);
    error = nds_device_create(machine, &params.config, &device_of[index].device);
    if (!error) {
      nds_device_silence(device_of[index].device, nds_silent_parts());
      nds_device_set_execution_limit(device_of[index].device, nds_kmod_execution_limit());
    }
    mutex_unlock(&models_lock);
  }
  if (error) destroy_models();
  return error;
}

static void destroy_nodes(void) {
  unsigned int index;

  for (index = 0; index < params.devices; index++) {
    if (!device_of[index].node) continue;
    nds_kmod_tree_remove(device_of[index].tree);
    device_remove_file(device_of[index].node, &dev_attr_simulated);
    device_destroy(&node_class, first_number + index);
  }
  class_unregister(&node_class);
}

static int create_node(unsigned int index) {
  struct device* node = device_create(&node_class, NULL, first_number + index,
                                      device_of[index].device, "%s%u", params.prefix, index);
  int error;

  if (IS_ERR(node)) return PTR_ERR(node);
  device_of[index].node = node;
  error = device_create_file(node, &dev_attr_simulated);
  if (!error) error = nds_kmod_tree_add(node, device_of[index].device, &device_of[index].tree);
  return error;
}

static int create_nodes(void) {
  unsigned int index;
  int error = class_register(&node_class);

  if (error) return error;
  for (index = 0; !error && index < params.devices; index++) error = create_node(index);
  if (error) destroy_nodes();
  return error;
}

/* Opening works after this, so nothing that may fail comes later. */
static int enable_nodes(void) {
  cdev_init(&nodes, &nds_kmod_file_operations);
  nodes.owner = THIS_MODULE;
  return cdev_add(&nodes, first_number, params.devices);
}

static int __init load(void) {
  int error = nds_kmod_params_check(&params);

  if (!error) error = check_class();
  if (error) return error;
  error = create_models();
  if (error) return error;
  nds_kmod_set_limit(params.mem_limit);
  error = alloc_chrdev_region(&first_number, 0, params.devices, params.prefix);
  if (error) goto no_numbers;
  error = create_nodes();
  if (error) goto no_nodes;
  error = enable_nodes();
  if (error) goto not_enabled;
  pr_info("neuron_sim: %u simulated devices of architecture %u, /dev/%s0 and up\n", params.devices,
          params.config.architecture, params.prefix);
  return 0;

not_enabled:
  destroy_nodes();
no_nodes:
  unregister_chrdev_region(first_number, params.devices);
no_numbers:
  destroy_models();
  return error;
}

static void __exit unload(void) {
  cdev_del(&nodes);
  destroy_nodes();
  unregister_chrdev_region(first_number, params.devices);
  destroy_models();
}

module_init(load);
module_exit(unload);

MODULE_DESCRIPTION("Simulated AWS Neuron devices with the real driver's user interface");
MODULE_LICENSE("Dual MIT/GPL");
MODULE_VERSION(NDS_KMOD_VERSION);

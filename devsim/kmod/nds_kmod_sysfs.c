/* SPDX-License-Identifier: (GPL-2.0 OR MIT) */
/*
 * The model's facts as files of the class and below the node's folder (spec 06 section 8). The
 * model names them by path; folders are made as the paths ask for them.
 */
#include <linux/device.h>
#include <linux/kobject.h>
#include <linux/list.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/sysfs.h>

#include "nds_kmod.h"
#include "nds_os.h"

#define LONGEST_PATH 128

/* A file. Those in the node's own folder must be device attributes, so all are. */
struct fact {
  struct device_attribute attribute;
  struct list_head list;
  char name[];
};

struct folder {
  struct kobject kobject;
  struct nds_device* device;
  struct list_head list;
  struct list_head facts;
  char path[]; /* below the node's folder */
};

struct nds_kmod_tree {
  struct device* node;
  struct nds_device* device;
  struct list_head folders; /* parents first */
  struct list_head facts;   /* of the node's own folder */
};

static ssize_t show_fact(struct device* node, struct device_attribute* attribute, char* text) {
  return nds_device_fact(dev_get_drvdata(node), attribute->attr.name, text, PAGE_SIZE);
}

static ssize_t show_in_folder(struct kobject* kobject, struct attribute* attribute, char* text) {
  const struct folder* folder = container_of(kobject, struct folder, kobject);
  char path[LONGEST_PATH];

  snprintf(path, sizeof path, "%s/%s", folder->path, attribute->name);
  return nds_device_fact(folder->device, path, text, PAGE_SIZE);
}

static ssize_t show_of_class(NDS_CLASS_CONST struct class* class,
                             NDS_CLASS_CONST struct class_attribute* attribute, char* text) {
  return nds_class_fact(attribute->attr.name, text, PAGE_SIZE);
}

#define CLASS_FACT(file)                                                                    \
  static struct class_attribute class_attr_##file = {.attr = {.name = #file, .mode = 0444}, \
                                                     .show = show_of_class}

CLASS_FACT(node_id_2);
CLASS_FACT(node_id_4);
CLASS_FACT(server_id_2);
CLASS_FACT(server_id_4);
CLASS_FACT(ultraserver_mode);

static struct attribute* class_attrs[] = {
    &class_attr_node_id_2.attr,   &class_attr_node_id_4.attr,        &class_attr_server_id_2.attr,
    &class_attr_server_id_4.attr, &class_attr_ultraserver_mode.attr, NULL,
};
static const struct attribute_group class_group = {.attrs = class_attrs};
const struct attribute_group* nds_kmod_class_groups[] = {&class_group, NULL};

static void free_facts(struct list_head* facts) {
  struct fact *fact, *next;

  list_for_each_entry_safe(fact, next, facts, list) kfree(fact);
}

static void release_folder(struct kobject* kobject) {
  struct folder* folder = container_of(kobject, struct folder, kobject);

  free_facts(&folder->facts);
  kfree(folder);
}

static const struct sysfs_ops folder_ops = {.show = show_in_folder};

static struct kobj_type folder_type = {
    .release = release_folder,
    .sysfs_ops = &folder_ops,
};

/* Only root may read these two, and `reset`, which the real driver also lets root write. */
static umode_t mode_of(const char* path) {
  static const char* const private_paths[] = {"core_count", "connected_devices", "reset"};

  return match_string(private_paths, ARRAY_SIZE(private_paths), path) < 0 ? 0444 : 0400;
}

static int add_fact(struct kobject* parent, struct list_head* facts, const char* name,
                    umode_t mode) {
  struct fact* fact = kzalloc(struct_size(fact, name, strlen(name) + 1), GFP_KERNEL);
  int error;

  if (!fact) return -ENOMEM;
  strcpy(fact->name, name);
  sysfs_attr_init(&fact->attribute.attr);
  fact->attribute.attr.name = fact->name;
  fact->attribute.attr.mode = mode;
  fact->attribute.show = show_fact;
  error = sysfs_create_file(parent, &fact->attribute.attr);
  if (error)
    kfree(fact);
  else
    list_add(&fact->list, facts);
  return error;
}

static struct folder* find_folder(struct nds_kmod_tree* tree, const char* path, size_t length) {
  struct folder* folder;

  /* The one wanted is mostly among the last. */
  list_for_each_entry_reverse(folder, &tree->folders, list) {
    if (strlen(folder->path) == length && !strncmp(folder->path, path, length)) return folder;
  }
  return NULL;
}

static int add_folder(struct nds_kmod_tree* tree, struct kobject* parent, const char* path,
                      size_t length, const char* name, struct folder** out) {
  struct folder* folder = kzalloc(struct_size(folder, path, length + 1), GFP_KERNEL);
  int error;

  if (!folder) return -ENOMEM;
  memcpy(folder->path, path, length);
  folder->device = tree->device;
  INIT_LIST_HEAD(&folder->facts);
  error = kobject_init_and_add(&folder->kobject, &folder_type, parent, "%s",
                               folder->path + (name - path));
  if (error) {
    kobject_put(&folder->kobject);
    return error;
  }
  list_add_tail(&folder->list, &tree->folders);
  *out = folder;
  return 0;
}

/* Makes the folders of a path that are not there yet, then its file. */
static int add_path(struct nds_kmod_tree* tree, const char* path) {
  struct folder* folder = NULL;
  const char* name = path;
  const char* slash;

  while ((slash = strchr(name, '/'))) {
    struct kobject* parent = folder ? &folder->kobject : &tree->node->kobj;
    size_t length = (size_t)(slash - path);
    int error = 0;

    folder = find_folder(tree, path, length);
    if (!folder) error = add_folder(tree, parent, path, length, name, &folder);
    if (error) return error;
    name = slash + 1;
  }
  if (!folder) return add_fact(&tree->node->kobj, &tree->facts, name, mode_of(path));
  return add_fact(&folder->kobject, &folder->facts, name, mode_of(path));
}

int nds_kmod_tree_add(struct device* node, struct nds_device* device, struct nds_kmod_tree** out) {
  struct nds_kmod_tree* tree = kzalloc(sizeof *tree, GFP_KERNEL);
  char path[LONGEST_PATH];
  unsigned int index;
  int error = 0;

  *out = NULL;
  if (!tree) return -ENOMEM;
  tree->node = node;
  tree->device = device;
  INIT_LIST_HEAD(&tree->folders);
  INIT_LIST_HEAD(&tree->facts);
  for (index = 0; !error; index++) {
    int length = nds_device_fact_path(device, index, path, sizeof path);

    if (length == -ENOENT) break;
    error = length < 0 ? length : add_path(tree, path);
  }
  if (error) {
    nds_kmod_tree_remove(tree);
    return error;
  }
  *out = tree;
  return 0;
}

void nds_kmod_tree_remove(struct nds_kmod_tree* tree) {
  struct folder *folder, *next;
  struct fact* fact;

  if (!tree) return;
  list_for_each_entry(fact, &tree->facts, list)
      sysfs_remove_file(&tree->node->kobj, &fact->attribute.attr);
  free_facts(&tree->facts);
  /* Children were added after their parents. */
  list_for_each_entry_safe_reverse(folder, next, &tree->folders, list) {
    list_del(&folder->list);
    kobject_del(&folder->kobject);
    kobject_put(&folder->kobject);
  }
  kfree(tree);
}

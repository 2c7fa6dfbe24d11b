/* SPDX-License-Identifier: (GPL-2.0 OR MIT) */
/*
 * The device's firmware, which the host reaches through words of the misc RAM: resets and the
 * mailbox (spec 06 section 9, spec 11 A.3 and A.6).
 */
#ifndef NDS_FIRMWARE_H
#define NDS_FIRMWARE_H

#include "nds_os.h"

/* Offsets in the misc RAM. */
#define NDS_MISC_RAM_API_VERSION 0x0u
#define NDS_MISC_RAM_ROUTING_ID 0x24u
#define NDS_MISC_RAM_SERIAL_LO 0x38u
#define NDS_MISC_RAM_SERIAL_HI 0x3Cu
#define NDS_MISC_RAM_METRICS 0x100u
#define NDS_MISC_RAM_METRICS_BYTES 128u
#define NDS_MISC_RAM_RESET_MAP 0x1D8u
#define NDS_MISC_RAM_RESET_TYPE 0x1ECu /* not 0: a reset is asked for */
#define NDS_MISC_RAM_MAILBOX 0x1F0u
#define NDS_MISC_RAM_REQUEST_HI 0x1F0u /* device addresses of the two buffers in host memory */
#define NDS_MISC_RAM_REQUEST_LO 0x1F4u
#define NDS_MISC_RAM_RESPONSE_HI 0x1F8u
#define NDS_MISC_RAM_RESPONSE_LO 0x1FCu
#define NDS_MISC_RAM_MAILBOX_END 0x200u
#define NDS_MISC_RAM_TRIGGER 0x800u
#define NDS_MISC_RAM_RESET_STATUS 0x808u /* bit 3: not done */

#define NDS_RESET_DEVICE 1u
#define NDS_RESET_CORES 2u

#define NDS_FIRMWARE_READ 1u
#define NDS_FIRMWARE_POST 2u

#define NDS_FIRMWARE_OK 0u
#define NDS_FIRMWARE_FAILED 1u
#define NDS_FIRMWARE_UNKNOWN 2u

struct nds_device;

/* The words a device shows when it has come up. Needs the DMA lock. */
void nds_firmware_start(struct nds_device* device);

/*
 * The host has written a register: the trigger, or one by which emulated devices (PCI revision
 * 0xFF) are reset, makes the firmware work. Done when this returns. Needs the DMA lock.
 */
void nds_firmware_written(struct nds_device* device, uint64_t offset, uint32_t value);

#endif

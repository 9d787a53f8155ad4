// SPDX-License-Identifier: Apache-2.0
// Requests to the host, one at a time: all cores get their answers in one register.
#include "host_files.h"

#include <stddef.h>
#include <sys/lock.h>

#include "rv32_soc.h"

// The request and what it names are in the RAM before a device is written.
static int ask(const struct soc_request *request)
{
    __retarget_lock_acquire_recursive(NULL);
    __asm__ volatile("" ::: "memory");
    REGISTER(SOC_SYSTEM_BASE + SYSTEM_HOST) = (uint32_t)request;
    const int answer = (int)REGISTER(SOC_SYSTEM_BASE + SYSTEM_HOST);
    __retarget_lock_release_recursive(NULL);
    return answer;
}

int host_create(const char *path)
{
    return ask(&(struct soc_request){ SOC_HOST_CREATE, { (uint32_t)path } });
}

int host_write(int file, const void *from, uint32_t bytes, uint32_t place)
{
    return ask(
        &(struct soc_request){ SOC_HOST_WRITE, { (uint32_t)file, (uint32_t)from, bytes, place } });
}

int host_close(int file)
{
    return ask(&(struct soc_request){ SOC_HOST_CLOSE, { (uint32_t)file } });
}

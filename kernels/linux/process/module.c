// SPDX-License-Identifier: Apache-2.0
#define _GNU_SOURCE
#include "module.h"

#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#include "arch.h"

struct load {
    struct gvm *gvm;
    const char *path;
    unsigned long long before;  // objects that were loaded before the module
    unsigned long long seen;
    char *error;
    size_t error_bytes;
};

// Their writable data is a kernel's own: locks, stdio buffers, the exception state.
static bool is_system_library(const char *path)
{
    static const char *const names[] = { "libc.so",      "libm.so",       "libpthread.so",
                                         "libdl.so",     "librt.so",      "ld-linux",
                                         "libstdc++.so", "libgcc_s.so",   "libasan.so",
                                         "libubsan.so",  "linux-vdso.so", "libgomp.so" };
    const char *slash = strrchr(path, '/');
    const char *base = slash != NULL ? slash + 1 : path;

    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (strncmp(base, names[i], strlen(names[i])) == 0)
            return true;
    return false;
}

static uintptr_t page_of(uintptr_t address)
{
    return address & ~(uintptr_t)(PAGE_BYTES - 1);
}

// The read-only-after-relocation part of an object stays private: it never changes again.
static uintptr_t relro_end(const struct dl_phdr_info *info)
{
    for (int i = 0; i < info->dlpi_phnum; i++)
        if (info->dlpi_phdr[i].p_type == PT_GNU_RELRO)
            return page_of(info->dlpi_addr + info->dlpi_phdr[i].p_vaddr +
                           info->dlpi_phdr[i].p_memsz);
    return 0;
}

static bool share_segments(struct load *load, const struct dl_phdr_info *info)
{
    const uintptr_t relro = relro_end(info);

    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *p = &info->dlpi_phdr[i];
        if (p->p_type != PT_LOAD || (p->p_flags & PF_W) == 0)
            continue;
        uintptr_t from = page_of(info->dlpi_addr + p->p_vaddr);
        const uintptr_t end = page_of(info->dlpi_addr + p->p_vaddr + p->p_memsz + PAGE_BYTES - 1);
        if (relro > from && relro <= end)
            from = relro;
        if (from < end && !gvm_replace(load->gvm, (void *)from, end - from)) {
            snprintf(load->error, load->error_bytes, "%s: no room for %zu bytes of its globals",
                     info->dlpi_name, (size_t)(end - from));
            return false;
        }
    }
    return true;
}

struct dynamic {
    const ElfW(Sym) * symbols;
    const char *strings;
    const ElfW(Rela) * relocations[2];  // of data, of calls
    size_t bytes[2];
};

static const void *at(const struct dl_phdr_info *info, uintptr_t value)
{
    // The loader has relocated these pointers on most systems, but not on all.
    return (const void *)(value < info->dlpi_addr ? info->dlpi_addr + value : value);
}

static struct dynamic read_dynamic(const struct dl_phdr_info *info)
{
    struct dynamic d = { 0 };
    const ElfW(Dyn) *dyn = NULL;

    for (int i = 0; i < info->dlpi_phnum; i++)
        if (info->dlpi_phdr[i].p_type == PT_DYNAMIC)
            dyn = (const void *)(info->dlpi_addr + info->dlpi_phdr[i].p_vaddr);
    for (; dyn != NULL && dyn->d_tag != DT_NULL; dyn++) {
        switch (dyn->d_tag) {
        case DT_SYMTAB:
            d.symbols = at(info, dyn->d_un.d_ptr);
            break;
        case DT_STRTAB:
            d.strings = at(info, dyn->d_un.d_ptr);
            break;
        case DT_RELA:
            d.relocations[0] = at(info, dyn->d_un.d_ptr);
            break;
        case DT_RELASZ:
            d.bytes[0] = dyn->d_un.d_val;
            break;
        case DT_JMPREL:
            d.relocations[1] = at(info, dyn->d_un.d_ptr);
            break;
        case DT_PLTRELSZ:
            d.bytes[1] = dyn->d_un.d_val;
            break;
        default:
            break;
        }
    }
    return d;
}

static void redirect_one(const struct dl_phdr_info *info, const struct dynamic *d,
                         const ElfW(Rela) * r, uintptr_t relro)
{
    const ElfW(Sym) *symbol = &d->symbols[ELF64_R_SYM(r->r_info)];

    // A function that the object defines itself is its own business.
    if (!arch_relocation_is_address(ELF64_R_TYPE(r->r_info)) || symbol->st_shndx != SHN_UNDEF)
        return;
    hook *target = hook_for(d->strings + symbol->st_name);
    if (target == NULL)
        return;
    hook **where = (hook **)(info->dlpi_addr + r->r_offset);
    void *page = (void *)page_of((uintptr_t)where);
    const bool is_read_only = (uintptr_t)where < relro;
    if (is_read_only)
        mprotect(page, PAGE_BYTES, PROT_READ | PROT_WRITE);
    *where = target;
    if (is_read_only)
        mprotect(page, PAGE_BYTES, PROT_READ);
}

static void redirect_calls(const struct dl_phdr_info *info)
{
    const struct dynamic d = read_dynamic(info);
    const uintptr_t relro = relro_end(info);

    for (int table = 0; table < 2; table++)
        for (size_t i = 0; i < d.bytes[table] / sizeof(ElfW(Rela)); i++)
            redirect_one(info, &d, &d.relocations[table][i], relro);
}

static bool has_thread_locals(const struct dl_phdr_info *info)
{
    for (int i = 0; i < info->dlpi_phnum; i++)
        if (info->dlpi_phdr[i].p_type == PT_TLS)
            return true;
    return false;
}

static int adopt(struct dl_phdr_info *info, size_t size, void *arg)
{
    struct load *load = arg;

    (void)size;
    if (load->seen++ < load->before)
        return 0;
    if (is_system_library(info->dlpi_name)) {
        // What libstdc++ allocates belongs to the task: a string's text, an exception.
        if (strstr(info->dlpi_name, "libstdc++.so") != NULL)
            redirect_calls(info);
        return 0;
    }
    if (strcmp(info->dlpi_name, load->path) == 0 && has_thread_locals(info)) {
        snprintf(load->error, load->error_bytes,
                 "it has thread-local variables, which every kernel has its own of; "
                 "keep such state with the task (wb_task_set_state)");
        return 1;
    }
    if (!share_segments(load, info))
        return 1;
    redirect_calls(info);
    return 0;
}

static int count_objects(struct dl_phdr_info *info, size_t size, void *arg)
{
    (void)info;
    (void)size;
    ++*(unsigned long long *)arg;
    return 0;
}

void *module_load(struct gvm *gvm, const char *path, char *error, size_t error_bytes)
{
    struct load load = { .gvm = gvm, .path = path, .error = error, .error_bytes = error_bytes };

    if (!module_file_check(path, error, error_bytes))
        return NULL;
    dl_iterate_phdr(count_objects, &load.before);
    void *handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (handle == NULL) {
        snprintf(error, error_bytes, "%s", dlerror());
        return NULL;
    }
    if (dl_iterate_phdr(adopt, &load) != 0) {
        dlclose(handle);
        return NULL;
    }
    return handle;
}

void *module_symbol(void *module, const char *name)
{
    void *symbol = module != NULL ? dlsym(module, name) : NULL;
    struct link_map *own, *of;
    Dl_info info;

    if (symbol == NULL || dlinfo(module, RTLD_DI_LINKMAP, &own) != 0 ||
        dladdr1(symbol, &info, (void **)&of, RTLD_DL_LINKMAP) == 0)
        return NULL;
    return of == own ? symbol : NULL;
}

bool module_place(uintptr_t pc, struct wb_host_frame *place)
{
    struct link_map *of;
    Dl_info info;

    if (dladdr1((void *)pc, &info, (void **)&of, RTLD_DL_LINKMAP) == 0 || of->l_name[0] == '\0')
        return false;
    *place = (struct wb_host_frame){ of->l_name, info.dli_sname != NULL ? info.dli_sname : "",
                                     pc - of->l_addr };
    return true;
}

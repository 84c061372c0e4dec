/* replay.c -- stands in for libFuzzer where the compiler has none: runs the target once over
 * an empty input and over every file in the folders given. A crash is the failure. */
#include <dirent.h>
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int replay_file(const char *path)
{
    FILE *in = fopen(path, "rb");
    if (!in) {
        fprintf(stderr, "%s: %s\n", path, strerror(errno));
        return 1;
    }
    uint8_t *data = NULL;
    size_t size = 0, got = 0;
    do {
        uint8_t *grown = realloc(data, size + 65536);
        if (!grown) break;
        data = grown;
        got = fread(data + size, 1, 65536, in);
        size += got;
    } while (got > 0);
    fclose(in);
    LLVMFuzzerTestOneInput(data, size);
    free(data);
    return 0;
}

static int replay_folder(const char *folder, int *count)
{
    DIR *open_folder = opendir(folder);
    if (!open_folder) {
        fprintf(stderr, "%s: %s\n", folder, strerror(errno));
        return 1;
    }
    int failed = 0;
    for (struct dirent *entry; (entry = readdir(open_folder));) {
        char path[4096];
        if (entry->d_name[0] == '.') continue;
        snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
        failed |= replay_file(path);
        *count += 1;
    }
    closedir(open_folder);
    return failed;
}

int main(int argc, char **argv)
{
    int failed = 0, count = 0;
    LLVMFuzzerTestOneInput((const uint8_t *)"", 0);
    for (int i = 1; i < argc; i++) failed |= replay_folder(argv[i], &count);
    printf("%d files replayed\n", count);
    return failed;
}

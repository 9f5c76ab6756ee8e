/* Programs of Go need ProcessPrng, which Wine 8 of Debian 12 lacks. This library has it, for
   tests. */
#include <windows.h>

BOOLEAN NTAPI SystemFunction036(PVOID, ULONG); /* RtlGenRandom */

__declspec(dllexport) BOOL WINAPI ProcessPrng(PBYTE data, SIZE_T size) {
	return SystemFunction036(data, (ULONG)size);
}

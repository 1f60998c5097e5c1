/**
 * Loads the built program with its code cache: the bytecode that V8 had compiled when Micwatch was built. Without it, a
 * fifth of the time of a start is spent on parsing and compiling. V8 rejects a cache of another version or of other
 * flags; the program is then compiled as usual.
 */

import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname } from 'node:path'
import { arch, platform, versions } from 'node:process'
import { fileURLToPath } from 'node:url'
import { Script } from 'node:vm'
import { crc32 } from 'node:zlib'

/** The function that `program.cjs` consists of (see scripts/build.ts). */
type RunProgram = (require: NodeJS.Require, __filename: string, __dirname: string, importMetaUrl: string) => void

/** Returns where the code cache is that this Node.js can use. */
export function codeCacheFile(folder: URL): URL {
  return new URL(`code-cache-${versions.v8}-${platform}-${arch}.bin`, folder)
}

/**
 * Compiles the program in `folder`, the URL of which ends with a slash, without running it. `createCodeCache` returns what
 * `codeCacheFile` is to contain.
 */
export function compileProgram(folder: URL) {
  const file = new URL('program.cjs', folder)
  const source = readFileSync(file)
  // The build writes only ASCII characters.
  const script = new Script(source.toString('latin1'), {
    // Not the path, because the cache would contain that of the build.
    filename: 'micwatch/program.cjs',
    cachedData: readCodeCache(folder, source),
  })
  return {
    /** Whether the code cache was used. */
    isCached: script.cachedDataRejected === false,
    run() {
      const path = fileURLToPath(file)
      const runProgram = script.runInThisContext() as RunProgram
      runProgram(createRequire(file), path, dirname(path), file.href)
    },
    createCodeCache() {
      const cache = script.createCachedData()
      return Buffer.concat([cache, checksumOf(source, cache)])
    },
  }
}

/**
 * Returns the code cache of the program, or undefined if it cannot be used. V8 checks neither that a cache is undamaged
 * nor that it belongs to this source, so a checksum of both follows it.
 */
function readCodeCache(folder: URL, source: Buffer): Buffer | undefined {
  try {
    const file = readFileSync(codeCacheFile(folder))
    const [cache, checksum] = [file.subarray(0, -checksumBytes), file.subarray(-checksumBytes)]
    return checksum.equals(checksumOf(source, cache)) ? cache : undefined
  } catch {
    // Micwatch was built by another version of Node.js.
    return undefined
  }
}

const checksumBytes = 4

function checksumOf(source: Buffer, cache: Buffer): Buffer {
  const checksum = Buffer.alloc(checksumBytes)
  checksum.writeUInt32LE(crc32(cache, crc32(source)))
  return checksum
}

export function start(): void {
  compileProgram(new URL('.', import.meta.url)).run()
}

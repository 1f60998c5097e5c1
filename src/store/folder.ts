import { mkdir } from 'node:fs/promises'
import { dirname } from 'node:path'

/** Makes a folder that only its owner may enter, and those above it. Node's own recursive way never ends on /proc. */
export async function makeFolder(path: string): Promise<void> {
  try {
    await mkdir(path, 0o700)
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'EEXIST') return
    if (code !== 'ENOENT' || dirname(path) === path) throw error
    await makeFolder(dirname(path))
    await mkdir(path, 0o700).catch((again: NodeJS.ErrnoException) => {
      if (again.code !== 'EEXIST') throw again
    })
  }
}

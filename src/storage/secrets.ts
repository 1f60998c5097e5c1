/**
 * Encrypts secrets in the database, so that a copy of it does not reveal them. The key is stored in a separate file.
 */

import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto'
import { link, readFile, rm } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { isSecretName } from '../domain/access/secrets.ts'
import { isRecord } from '../domain/json.ts'
import { describeReadError, describeWriteError } from '../platform/file-error.ts'
import { createFolder, createPrivateFile, findExposure } from './folder.ts'

export type Config = Readonly<Record<string, unknown>>

export interface Secrets {
  /** A problem with the storage of the key, as a sentence for administrators; null if there is none. */
  readonly warning: string | null
  seal(text: string, context: string): string
  /** Throws if it was sealed with another key or in another context. */
  open(sealed: string, context: string): string
  /** As `open`, but returns null instead of throwing. */
  tryOpen(sealed: string, context: string): string | null
  /**
   * Seals every string in a manufacturer's configuration whose key names a secret. If a secret is null in `config`, and
   * its sealed value in `previousConfig` cannot be opened, that sealed value is kept.
   */
  sealConfig(config: Config, code: string, previousConfig?: Config): Config
  /** Opens the sealed secrets in a manufacturer's configuration. Secrets that cannot be opened become null. */
  openConfig(config: Config, code: string): { readonly config: Config; readonly isUnreadable: boolean }
}

const keyBytes = 32
const nonceBytes = 12
const tagBytes = 16

/** Uses the configured key (64 hexadecimal digits) or the key file in the folder, which is created if it is missing. */
export async function openSecrets(dataDir: string, configuredKey: string | null = null): Promise<Secrets> {
  if (configuredKey !== null) return createSecrets({ key: Buffer.from(configuredKey, 'hex'), warning: null })
  const path = join(dataDir, 'secret.key')
  await createFolder(resolve(dataDir))
  return createSecrets((await readKey(path)) ?? (await createKey(path)))
}

interface Key extends Pick<Secrets, 'warning'> {
  readonly key: Buffer
}

async function readKey(path: string): Promise<Key | null> {
  const text = await readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return null
    throw describeReadError(path, error)
  })
  if (text === null) return null
  const exposure = await findExposure(path)
  if (exposure === 'exposed') {
    throw new Error(`The key file ${path} can be read by other users. Make it readable by its owner only (chmod 600).`)
  }
  if (!/^[0-9a-f]{64}\s*$/i.test(text)) {
    throw new Error(`The key file ${path} is damaged: expected 64 hexadecimal digits. Restore it from a backup.`)
  }
  return {
    key: Buffer.from(text.trim(), 'hex'),
    warning: exposure === 'unknown' ? describeMissingPermissions(path) : null,
  }
}

function describeMissingPermissions(path: string): string {
  return `The file system of ${path} does not support permissions: every user who can open the folder can read the key. Move the data folder to a file system that supports them, or set MICWATCH_SECRET_KEY.`
}

/** Writes a draft and links it into place, so that two processes that start together use the same complete key. */
async function createKey(path: string): Promise<Key> {
  const draft = `${path}.${randomBytes(6).toString('hex')}`
  const text = `${randomBytes(keyBytes).toString('hex')}\n`
  try {
    await writeNew(draft, text).catch((error) => Promise.reject(describeWriteError(path, error)))
    // FAT, exFAT and many network shares do not support links; the key is then written in place.
    await link(draft, path).catch((error) => (isExisting(error) ? undefined : writeNew(path, text)))
  } catch (error) {
    if (!isExisting(error)) throw error
  } finally {
    await rm(draft, { force: true })
  }
  const key = await readKey(path)
  if (key === null) throw new Error(`The key file ${path} was deleted while it was being created.`)
  return key
}

function isExisting(error: unknown): boolean {
  return (error as NodeJS.ErrnoException).code === 'EEXIST'
}

async function writeNew(path: string, text: string): Promise<void> {
  const file = await createPrivateFile(path)
  try {
    await file.writeFile(text)
    await file.sync()
  } catch (error) {
    await rm(path, { force: true })
    throw error
  } finally {
    await file.close()
  }
}

function createSecrets({ key, warning }: Key): Secrets {
  function seal(text: string, context: string): string {
    const nonce = randomBytes(nonceBytes)
    const cipher = createCipheriv('aes-256-gcm', key, nonce).setAAD(Buffer.from(context))
    const body = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()])
    return Buffer.concat([nonce, cipher.getAuthTag(), body]).toString('base64')
  }

  function openSealed(sealed: string, context: string): string {
    const bytes = Buffer.from(sealed, 'base64')
    const tag = bytes.subarray(nonceBytes, nonceBytes + tagBytes)
    const decipher = createDecipheriv('aes-256-gcm', key, bytes.subarray(0, nonceBytes), { authTagLength: tagBytes })
      .setAAD(Buffer.from(context))
      .setAuthTag(tag)
    const body = decipher.update(bytes.subarray(nonceBytes + tagBytes))
    return Buffer.concat([body, decipher.final()]).toString('utf8')
  }

  function tryOpen(sealed: string, context: string): string | null {
    try {
      return openSealed(sealed, context)
    } catch {
      return null
    }
  }

  return {
    warning,
    seal,
    open: openSealed,
    tryOpen,
    sealConfig(config, code, previousConfig = {}) {
      return mapSecrets(config, previousConfig, (value, previous) => {
        if (typeof value === 'string') return { $sealed: seal(value, code) } satisfies Sealed
        return value === null && isSealed(previous) && tryOpen(previous.$sealed, code) === null ? previous : undefined
      }) as Config
    },
    openConfig(config, code) {
      let isUnreadable = false
      const opened = mapSecrets(config, {}, (value) => {
        if (!isSealed(value)) return undefined
        const text = tryOpen(value.$sealed, code)
        isUnreadable ||= text === null
        return text
      })
      return { config: opened as Config, isUnreadable }
    },
  }
}

interface Sealed {
  readonly $sealed: string
}

/** Only sealed values are stored under the name of a secret, so no other value can look like this. */
function isSealed(value: unknown): value is Sealed {
  return isRecord(value) && typeof value.$sealed === 'string' && Object.keys(value).length === 1
}

/**
 * Walks `value` and `previousConfig` in parallel and replaces values under a secret's name with the result of `map`.
 * When the result is undefined, the walk continues inside the value.
 */
function mapSecrets(
  value: unknown,
  previousConfig: unknown,
  map: (value: unknown, previousConfig: unknown) => unknown,
  isSecret = false,
): unknown {
  const mapped = isSecret ? map(value, previousConfig) : undefined
  if (mapped !== undefined) return mapped
  if (Array.isArray(value)) {
    return value.map((item, index) =>
      mapSecrets(item, Array.isArray(previousConfig) ? previousConfig[index] : undefined, map, isSecret),
    )
  }
  if (!isRecord(value)) return value
  return Object.fromEntries(
    Object.entries(value).map(([name, item]) => {
      const previous = isRecord(previousConfig) ? previousConfig[name] : undefined
      return [name, mapSecrets(item, previous, map, isSecret || isSecretName(name))]
    }),
  )
}

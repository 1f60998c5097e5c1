/** Unsaved input, kept in the browser for one account, so that it survives a reload of the page. */

import type { SessionBody } from '../../../src/contract/access.ts'
import { isRecord } from '../../../src/domain/json.ts'
import { listLocal, readLocal, removeLocal, writeLocal } from '../../app/local-storage.ts'
import type { Entry } from './entries.ts'

type Field = Pick<Entry, 'values' | 'text'>

/** By name. */
type Fields = Readonly<Record<string, Field>>

export interface KeptInput {
  /** Title of the form. */
  readonly title: string
  /** Address of the page. */
  readonly page: string
  /** Time of the last input, in milliseconds. */
  readonly at: number
  /** The changed fields. */
  readonly fields: Fields
  /** The same fields before the changes. */
  readonly before: Fields
}

const keepMs = 24 * 3_600_000
const prefix = 'micwatch.unsaved.'

/** Installations with the same origin differ in `mount`. */
export function accountOf(mount: string, { user, kind, name }: SessionBody): string {
  return `${mount}:${user?.id ?? `${kind}:${name}`}`
}

/** `form` names the form: the address of its record. */
export function keyOf(account: string, form: string): string {
  return `${prefix}${encodeURIComponent(account)}.${form}`
}

export function keepInput(key: string, input: KeptInput): void {
  writeLocal(key, JSON.stringify(input))
}

export function dropInput(key: string): void {
  removeLocal(key)
}

export function findKeptInput(key: string, now: number): KeptInput | null {
  return parse(readLocal(key), now)
}

/** Also removes expired input, including that of other accounts. */
export function listKeptInput(account: string, now: number): readonly (KeptInput & { readonly key: string })[] {
  const own = keyOf(account, '')
  return listLocal().flatMap((key) => {
    if (!key.startsWith(prefix)) return []
    const input = parse(readLocal(key), now)
    if (input === null) removeLocal(key)
    return input === null || !key.startsWith(own) ? [] : [{ ...input, key }]
  })
}

function parse(text: string, now: number): KeptInput | null {
  try {
    const read: unknown = JSON.parse(text)
    return isKeptInput(read) && read.at > now - keepMs && read.at <= now + keepMs ? read : null
  } catch {
    return null
  }
}

function isKeptInput(read: unknown): read is KeptInput {
  return (
    isRecord(read) &&
    typeof read.title === 'string' &&
    typeof read.page === 'string' &&
    typeof read.at === 'number' &&
    areFields(read.fields) &&
    areFields(read.before)
  )
}

function areFields(read: unknown): read is Fields {
  return isRecord(read) && Object.values(read).every(isField)
}

function isField(read: unknown): read is Field {
  return isRecord(read) && typeof read.text === 'string' && isTexts(read.values)
}

function isTexts(read: unknown): read is readonly string[] {
  return Array.isArray(read) && read.every((value) => typeof value === 'string')
}

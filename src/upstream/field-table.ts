/**
 * The fields that a protocol reports, as its manufacturer documents them: the unit, the range, and the values that are
 * codes rather than readings. Converters read every field through its table, and docs/hardware-fields.md is generated
 * from the tables. A value that is a code, out of range or malformed is unknown.
 */

import type { DeviceProblem } from '../domain/equipment/health.ts'
import { maxNameChars, readText } from './fields.ts'

export interface Field<Value = unknown> {
  /** The address with `*` for a number: `/rx*` + `/gain`, or the path of a resource and its property. */
  readonly address: string
  /** The unit of the raw value, or the kind of value. */
  readonly unit: string
  /** The values that are readings. */
  readonly range: string
  /** The meanings of values that are not readings. */
  readonly codes: Readonly<Record<string, string>>
  /** Returns undefined if the field was not reported, and null if its value is unknown. */
  read(raw: unknown): Value | null | undefined
  /** True if the value has the documented form. Any device may report null. */
  hasForm(raw: unknown): boolean
}

export interface FieldTable {
  readonly family: string
  /** The document or project that the table follows. */
  readonly source: string
  readonly fields: Readonly<Record<string, Field>>
}

export interface NumberRange {
  readonly unit: string
  readonly min: number
  readonly max: number
  /** The value is `raw * scale + offset`, rounded. */
  readonly scale?: number
  readonly offset?: number
  readonly codes?: Readonly<Record<number, string>>
}

export function number(address: string, { unit, min, max, scale = 1, offset = 0, codes = {} }: NumberRange) {
  const factor = scale === 1 ? '' : ` × ${scale}`
  const formula = `${factor}${offset === 0 ? '' : offset < 0 ? ` − ${-offset}` : ` + ${offset}`}`
  return field<number>({
    address,
    unit,
    range: `${min} to ${max}${formula === '' ? '' : `, value = raw${formula}`}`,
    codes,
    hasForm: (raw) => typeof raw === 'number',
    convert(raw) {
      const value = typeof raw === 'number' && Number.isFinite(raw) ? raw : null
      if (value === null || codes[value] !== undefined) return null
      const whole = Math.round(value)
      return whole < min || whole > max ? null : Math.round(value * scale + offset)
    },
  })
}

/** A number that a protocol sends as text, with or without leading zeros. */
export function digits(address: string, range: NumberRange) {
  const { unit, range: values, codes, read } = number(address, range)
  return field<number>({
    ...{ address, unit, codes },
    range: values,
    hasForm: (raw) => typeof raw === 'string' && /^-?\d{1,8}$/.test(raw),
    convert: (raw) => read(Number(raw)) ?? null,
  })
}

/** An audio level in dBFS, limited to full scale. */
export function audioLevel(
  address: string,
  range: Omit<NumberRange, 'unit' | 'max'> & Partial<Pick<NumberRange, 'unit' | 'max'>>,
) {
  const level = number(address, { max: 100, unit: range.scale === undefined ? 'dBFS' : 'step', ...range })
  return { ...level, read: (raw: unknown) => clampLevel(level.read(raw)) }
}

function clampLevel(level: number | null | undefined): number | null | undefined {
  return level && level > 0 ? 0 : level
}

export function percent(address: string, codes: Readonly<Record<number, string>> = {}) {
  return number(address, { unit: '%', min: 0, max: 100, codes })
}

/** Only the given words, or numbers that stand for words, are readings. */
export function words<Value>(
  address: string,
  values: Readonly<Record<string, Value>>,
  codes: Readonly<Record<string, string>> = {},
) {
  const isNumber = Object.keys(values).every((word) => /^-?\d+$/.test(word))
  return meaningsOf(address, values, codes, isNumber ? 'number' : 'string')
}

/** Like `words`, in a protocol that sends numbers as text. */
export function textWords<Value>(
  address: string,
  values: Readonly<Record<string, Value>>,
  codes: Readonly<Record<string, string>> = {},
) {
  return meaningsOf(address, values, codes, 'string')
}

function meaningsOf<Value>(
  address: string,
  values: Readonly<Record<string, Value>>,
  codes: Readonly<Record<string, string>>,
  type: 'number' | 'string',
) {
  const meanings = new Map(Object.entries(values))
  return field<Value>({
    address,
    unit: type === 'number' ? 'code' : 'word',
    range: [...meanings.keys()].join(', '),
    codes,
    hasForm: (raw) => typeof raw === type,
    convert: (raw) => meanings.get(String(raw)) ?? null,
  })
}

export function flag(address: string) {
  return field<boolean>({
    address,
    unit: 'true or false',
    range: '',
    hasForm: (raw) => typeof raw === 'boolean',
    convert: (raw) => (typeof raw === 'boolean' ? raw : null),
  })
}

export function text(address: string, maxChars = maxNameChars) {
  return field<string>({
    address,
    unit: 'text',
    range: '',
    hasForm: (raw) => typeof raw === 'string' || typeof raw === 'number',
    convert: (raw) => readText(raw, maxChars) ?? null,
  })
}

/** A list of warnings; the converter looks for the words that `range` names. */
export function warnings(address: string, known: readonly string[]) {
  return field<readonly unknown[]>({
    address,
    unit: 'list of words',
    range: known.join(', '),
    hasForm: Array.isArray,
    convert: (raw) => (Array.isArray(raw) ? raw : null),
  })
}

interface FieldOptions<Value> extends Omit<Field<Value>, 'read' | 'codes'> {
  readonly codes?: Readonly<Record<string, string>>
  convert(raw: unknown): Value | null
}

export function field<Value>({ convert, codes = {}, ...options }: FieldOptions<Value>): Field<Value> {
  return {
    ...options,
    codes,
    hasForm: (raw) => raw === null || raw === undefined || options.hasForm(raw),
    read: (raw) => (raw === undefined ? undefined : options.hasForm(raw) ? convert(raw) : null),
  }
}

/**
 * The address of a field, in which `*` may stand for a number, and its value. `instance` distinguishes fields with the
 * same address, such as those of several channels.
 */
export type ReportedField = readonly [address: string, raw: unknown, instance?: string]

/** Tracks refused requests and undocumented values of a device. */
export interface Misfits {
  /** Returns true if the list has changed. */
  check(fields: Iterable<ReportedField>): boolean
  /** Sets the refused requests, each with the reason. Returns true if the list has changed. */
  setRefused(refused: ReadonlyMap<string, string>): boolean
  list(): readonly DeviceProblem[]
}

/** The number of addresses that a problem names. */
const maxNamed = 8

export function createMisfits(subject: string, fields: FieldTable['fields'] = {}): Misfits {
  const byAddress = new Map(Object.values(fields).map((entry) => [entry.address, entry]))
  /** The resources, whose properties are fields. */
  const resources = new Set([...byAddress.keys()].flatMap((address) => address.match(/^.*(?= )/)?.[0] ?? []))
  /** The address of each instance, so that a valid value of one channel clears only that channel. */
  const unexpected = new Map<string, string>()
  let refused: ReadonlyMap<string, string> = new Map()
  const hasForm = (address: string, raw: unknown) => byAddress.get(address)?.hasForm(raw) ?? !resources.has(address)
  return {
    check(reported) {
      let hasChanged = false
      for (const [name, raw, instance = name] of reported) {
        const address = byAddress.has(name) ? name : name.replace(/\d+/g, '*')
        if (hasForm(address, raw)) hasChanged = unexpected.delete(instance) || hasChanged
        else if (!unexpected.has(instance)) {
          unexpected.set(instance, address)
          hasChanged = true
        }
      }
      return hasChanged
    },
    setRefused(next) {
      const before = nameAll(refused)
      refused = new Map(next)
      return nameAll(refused) !== before
    },
    list() {
      const forms = new Map([...unexpected.values()].map((address) => [address, '']))
      const clauses = [
        ...(refused.size > 0 ? [`the device refuses ${nameAll(refused)}`] : []),
        ...(forms.size > 0 ? [`the device reports ${nameAll(forms)} in an undocumented form`] : []),
      ]
      // One problem, because the details of a source name only its first.
      if (clauses.length === 0) return []
      return [{ subject, problem: `${clauses.join(', and ')}, so these values are unknown` }]
    },
  }
}

function nameAll(addresses: ReadonlyMap<string, string>): string {
  const all = [...addresses].map(([address, reason]) => (reason === '' ? address : `${address} (${reason})`))
  const more = all.length - maxNamed
  return all.slice(0, maxNamed).join(', ') + (more > 0 ? ` and ${more} more` : '')
}

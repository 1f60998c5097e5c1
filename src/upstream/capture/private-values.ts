/** Finds names, serial numbers and secrets in what a device sends and in what is known of it. */

import type { PrivateKind } from '../../domain/captures.ts'
import { isRecord, parseJson } from '../../domain/json.ts'

/** Value -> kind. */
export type PrivateValues = Map<string, PrivateKind>

export const macPattern = /(?<![0-9a-z])(?:[0-9a-f]{2}([:-]|%3a)(?:[0-9a-f]{2}\1){4}[0-9a-f]{2})(?![0-9a-f])/gi

/** Without separators, in lower case. */
export const digitsOfMac = (mac: string) => mac.replace(/[:-]|%3a/gi, '').toLowerCase()

const kindsByKey: readonly (readonly [RegExp, PrivateKind])[] = [
  [
    /(?:password|passphrase|secret|token|jwt|psk|(?:shared|api|encryption)_?key|licen[cs]e_?(?:key|code)?)s?$/i,
    'secret',
  ],
  [/(?:serial(?:_?(?:number|num|no))?|uuid)$/i, 'serial'],
  [/(?:name|label|title|description|location|site|host|note|comment|user|e?mail)s?$/i, 'name'],
]
/** Keys that end like those of names, for values that are the same in every installation. */
const publicKeys =
  /(?:model|type|product|brand|vendor|manufacturer|firmware|band|mode|event|profile|family|property|feature|class|field|_from)_?(?:name|label|description|title)?$/i

/** `NAME {Nora}`, `rxname(1)="Nora"`: a key that ends like that of a name, and its value. */
const keyAndValue =
  /\b\w*?(NAME|LABEL|LOCATION|DEVICE_ID|SERIAL(?:_?NUM(?:BER)?)?)(?:\(\d+\))?(?:=| )(?:\{([^{}]*)\}|"([^"\r\n]*)"|(\w+)(?= >))/gi
/** `Name Nora`: a line that begins with the word. */
const nameLine = /^Name (.+)$/gm

/** Adds the private values of a record or a JSON document. */
export function findInJson(value: unknown, values: PrivateValues, key = ''): void {
  if (typeof value === 'string') {
    for (const [mac] of value.matchAll(macPattern)) add(values, digitsOfMac(mac), 'mac')
    const kind = kindOfKey(key)
    if (kind !== null) add(values, value, kind)
  } else if (typeof value === 'number') {
    if (kindOfKey(key) === 'serial') add(values, String(value), 'serial')
  } else if (Array.isArray(value)) {
    // `{"serial": [404, {"desc": "address not found"}]}` is an error of SSC 1.
    const isError = typeof value[0] === 'number' && isRecord(value[1])
    for (const item of value) findInJson(item, values, isError ? '' : key)
  } else if (isRecord(value)) {
    const isLicense = Object.values(value).some((item) => item === 'ACTIVATED' || item === 'NOT_ACTIVATED')
    for (const [name, item] of Object.entries(value)) {
      // `{"name": {"value": "Nora"}}`
      if (name === 'value') findInJson(item, values, key)
      // `{"status": "ACTIVATED", "code": "1234-ABCD"}`
      else findInJson(item, values, isLicense && name === 'code' ? 'license_code' : name)
    }
  }
}

/** Adds the private values of a message, which may contain several JSON documents or lines. */
export function findInText(text: string, values: PrivateValues): void {
  for (const [mac] of text.matchAll(macPattern)) add(values, digitsOfMac(mac), 'mac')
  const whole = parseJson(text)
  const documents = whole === undefined ? text.split(/[\r\n]+(?:data: ?)?/).map(parseJson) : [whole]
  if (documents.some(isStructured)) {
    for (const document of documents) findInJson(document, values)
    return
  }
  for (const [, key = '', braced, quoted, plain] of text.matchAll(keyAndValue)) {
    add(values, braced ?? quoted ?? plain ?? '', kindOfKey(key) ?? 'name')
  }
  for (const [, name = ''] of text.matchAll(nameLine)) add(values, name, 'name')
}

function isStructured(document: unknown): boolean {
  return typeof document === 'object' && document !== null
}

function kindOfKey(key: string): PrivateKind | null {
  if (publicKeys.test(key)) return null
  return kindsByKey.find(([pattern]) => pattern.test(key))?.[1] ?? null
}

function add(values: PrivateValues, value: string, kind: PrivateKind): void {
  const trimmed = value.trim()
  if (trimmed !== '' && !values.has(trimmed)) values.set(trimmed, kind)
}

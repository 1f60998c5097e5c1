/** Manufacturers in files, and conversion of their configuration to and from the fields of an HTML form. */

/** Configuration key -> alternative spelling. */
export const keyAliases: Readonly<Record<string, string>> = {
  api_base_url: 'BASE_URL',
  username: 'USERNAME',
  password: 'PASSWORD',
  ssl_verify: 'VERIFY_SSL',
  timeout: 'TIMEOUT',
  poll_interval: 'polling_interval',
}

type Config = Readonly<Record<string, unknown>>

const kinds = {
  api_base_url: 'text',
  username: 'text',
  shared_key: 'text',
  token: 'text',
  fingerprint: 'text',
  password: 'text',
  ssl_verify: 'on_by_default',
  timeout: 'number',
  poll_interval: 'number',
  calls_per_second: 'number',
  burst: 'number',
  websocket_url: 'text',
  websocket_other_host: 'off_by_default',
  auth_header: 'off_by_default',
  auth_header_name: 'text',
  devices: 'lines',
} as const

/** Keys without a form field. */
const otherKinds = { stream_timeout: 'number', enabled: 'on_by_default' } as const

export type ConfigKey = keyof typeof kinds

/** Accepts both spellings. Unknown keys are text. */
export function settingKind(key: string): (typeof kinds)[ConfigKey] {
  const [name = key] = Object.entries(keyAliases).find(([, alias]) => alias === key) ?? []
  const known: Readonly<Record<string, (typeof kinds)[ConfigKey]>> = { ...kinds, ...otherKinds }
  return known[name] ?? 'text'
}

/** Secrets that apply to all addresses of a configuration. */
export const sharedSecretKeys = ['shared_key', 'password', 'token'] as const satisfies readonly ConfigKey[]

/** Returns the spelling that this configuration uses, so that it never contains both. */
export function resolveKey(config: Config, key: ConfigKey): string {
  const alias = keyAliases[key]
  return alias !== undefined && alias in config ? alias : key
}

export function fieldValue(config: Config, key: ConfigKey): string {
  const value = config[resolveKey(config, key)] ?? ''
  return Array.isArray(value) ? value.map(addressOf).join('\n') : String(value)
}

export function isChecked(config: Config, key: ConfigKey): boolean {
  return (config[resolveKey(config, key)] ?? kinds[key] === 'on_by_default') === true
}

/** Lists the keys without a form field, so that the form does not change them. */
export function listUnshownKeys(config: Config, shown: readonly ConfigKey[]): readonly string[] {
  const names = new Set(shown.map((key) => resolveKey(config, key)))
  return Object.keys(config).filter((name) => !names.has(name))
}

/**
 * Returns the keys that differ from `before`; null removes a key. `getInput` returns the text of a field, or null for
 * an unchecked checkbox. A number field with other text is sent unchanged, so that the error response names it.
 */
export function changedConfig(
  before: Config,
  shown: readonly ConfigKey[],
  getInput: (name: string) => string | null,
): Record<string, unknown> {
  const changes: Record<string, unknown> = {}
  for (const key of shown) {
    const name = resolveKey(before, key)
    const text = getInput(name)
    if (kinds[key] === 'on_by_default' || kinds[key] === 'off_by_default') {
      if (isChecked(before, key) !== (text !== null)) changes[name] = text !== null
    } else if (text !== null && text.trim() !== fieldValue(before, key)) {
      changes[name] = text.trim() === '' ? null : parse(key, text.trim(), before[name])
    }
  }
  return changes
}

function parse(key: ConfigKey, text: string, before: unknown): unknown {
  if (kinds[key] === 'number') return Number.isNaN(Number(text)) ? text : Number(text)
  if (kinds[key] !== 'lines') return text
  const lines = text.split('\n').map((line) => line.trim())
  return lines.filter((line) => line !== '').map((line) => findOrCreateDevice(line, before))
}

/** A device whose address is already listed keeps its other stored fields, such as its password. */
function findOrCreateDevice(address: string, before: unknown): unknown {
  const known: readonly unknown[] = Array.isArray(before) ? before : []
  return known.find((device) => addressOf(device) === address) ?? address
}

function addressOf(device: unknown): string {
  return typeof device === 'object' && device !== null && 'url' in device ? String(device.url) : String(device)
}

/** Finds the first entry that repeats the code of an earlier entry; null if all codes are unique. */
export function findRepeatedCode(
  entries: readonly { readonly code: string }[],
): { readonly key: string; readonly problem: string } | null {
  const codes = entries.map(({ code }) => code)
  const index = codes.findIndex((code, index) => codes.indexOf(code) < index)
  return index === -1
    ? null
    : { key: `${index}.code`, problem: `expected every code once; ${codes[index]} is repeated` }
}

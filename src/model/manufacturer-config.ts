/** A manufacturer's connection settings as a form shows them, and what was changed in the form -> what to send. */

/** Plain name -> the name it has in the other of the two equal forms. */
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
  password: 'text',
  ssl_verify: 'on_unless_told',
  timeout: 'number',
  poll_interval: 'number',
  calls_per_second: 'number',
  burst: 'number',
  websocket_url: 'text',
  websocket_other_host: 'off_unless_told',
  auth_header: 'off_unless_told',
  auth_header_name: 'text',
  devices: 'lines',
} as const

export type ConfigKey = keyof typeof kinds

/** As this configuration spells the key: what is stored in one form is not given in the other as well. */
export function resolveKey(config: Config, key: ConfigKey): string {
  const other = keyAliases[key]
  return other !== undefined && other in config ? other : key
}

/** What the field of the key shows. */
export function fieldValue(config: Config, key: ConfigKey): string {
  const value = config[resolveKey(config, key)] ?? ''
  return Array.isArray(value) ? value.map(addressOf).join('\n') : String(value)
}

export function isChecked(config: Config, key: ConfigKey): boolean {
  return (config[resolveKey(config, key)] ?? kinds[key] === 'on_unless_told') === true
}

/** Keys of the configuration that no field shows; they stay as they are. */
export function listUnshownKeys(config: Config, shown: readonly ConfigKey[]): readonly string[] {
  const names = new Set(shown.map((key) => resolveKey(config, key)))
  return Object.keys(config).filter((name) => !names.has(name))
}

/**
 * Only what differs from `before`, key by key; null takes a key away. `typed` gives the text of a field, null for a box
 * that is not ticked. What cannot be a number goes as it was typed, so that the refusal names it.
 */
export function changedConfig(
  before: Config,
  shown: readonly ConfigKey[],
  typed: (name: string) => string | null,
): Record<string, unknown> {
  const changes: Record<string, unknown> = {}
  for (const key of shown) {
    const name = resolveKey(before, key)
    const text = typed(name)
    if (kinds[key] === 'on_unless_told' || kinds[key] === 'off_unless_told') {
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

/** An address that was there keeps what else is stored of it, a password of its own for one. */
function findOrCreateDevice(address: string, before: unknown): unknown {
  const known: readonly unknown[] = Array.isArray(before) ? before : []
  return known.find((device) => addressOf(device) === address) ?? address
}

function addressOf(device: unknown): string {
  return typeof device === 'object' && device !== null && 'url' in device ? String(device.url) : String(device)
}

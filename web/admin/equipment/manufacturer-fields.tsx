import type { ManufacturerBody, PluginBody } from '../../../src/contract/manufacturers.ts'
import { hasNewOrigin } from '../../../src/domain/access/secrets.ts'
import {
  type ConfigKey,
  changedConfig,
  fieldValue,
  isChecked,
  listUnshownKeys,
  resolveKey,
  sharedSecretKeys,
} from '../../../src/domain/equipment/manufacturer-config.ts'
import { parseUrl } from '../../app/address.ts'
import { plainText } from '../../app/format.ts'
import { t } from '../../app/i18n.ts'
import { Field, SecretField, TextField, TickField } from '../../parts/forms/field.tsx'
import { useTickState } from '../../parts/forms/field-state.ts'

type Config = ManufacturerBody['config']

/** A stored secret is edited under its existing key. */
export function keysFor(plugin: PluginBody | undefined, config: Config): readonly ConfigKey[] {
  if (plugin?.code === 'ingest') return []
  if (plugin?.code === 'micwatch') return ['api_base_url', 'token', 'ssl_verify', 'fingerprint', 'timeout']
  const isSharedKey = 'shared_key' in config || (plugin?.code === 'shure' && !('password' in config))
  const secret = isSharedKey && !('PASSWORD' in config) ? 'shared_key' : 'password'
  const address = ['api_base_url', 'username', secret, 'ssl_verify', 'fingerprint'] as const
  const always = [...address, 'timeout', 'poll_interval', 'devices'] as const
  const ofWebSocket = ['websocket_url', 'websocket_other_host', 'auth_header', 'auth_header_name'] as const
  return [
    ...always,
    ...ofWebSocket.filter((key) => plugin?.transport === 'websocket' || key in config),
    'calls_per_second',
    'burst',
  ]
}

/** The other keys have defaults that usually suffice. */
export function isMainKey(key: ConfigKey): boolean {
  return key === 'api_base_url' || isSecretKey(key)
}

export function isSecretKey(key: ConfigKey): boolean {
  return (sharedSecretKeys as readonly ConfigKey[]).includes(key)
}

export function typedConfig(config: Config, keys: readonly ConfigKey[], values: FormData): Record<string, unknown> {
  return changedConfig(config, keys, (name) => {
    const value = values.get(fieldName(name))
    return typeof value === 'string' ? value : null
  })
}

function fieldName(name: string): string {
  return `config.${name}`
}

/** After a change of address, stored secrets must be entered again. */
export function isMovedConfig(config: Config, keys: readonly ConfigKey[], values: FormData): boolean {
  return hasNewOrigin(config, { ...config, ...typedConfig(config, keys, values) }, parseUrl)
}

/** The first stored secret that must be entered again. */
export function findMissingSecret(config: Config, keys: readonly ConfigKey[], values: FormData): string | null {
  if (!isMovedConfig(config, keys, values)) return null
  const stored = sharedSecretKeys.filter((key) => keys.includes(key) && fieldValue(config, key) !== '')
  return stored.map((key) => fieldName(resolveKey(config, key))).find((name) => values.get(name) === '') ?? null
}

interface ConfigFieldsProps {
  readonly config: Config
  readonly keys: readonly ConfigKey[]
  readonly isMoved: boolean
}

export function ConfigFields({ keys, ...kind }: ConfigFieldsProps) {
  return keys.map((key) => <ConfigField key={key} {...kind} of={key} />)
}

/** Names the settings that the form keeps but does not show. */
export function KeptKeys({ config, keys }: Pick<ConfigFieldsProps, 'config' | 'keys'>) {
  const kept = listUnshownKeys(config, keys)
  if (kept.length === 0) return null
  return <p className="hint">{plainText(t('manufacturers.keptKeys', { keys: kept.join(', ') }))}</p>
}

interface ConfigFieldProps extends Pick<ConfigFieldsProps, 'config' | 'isMoved'> {
  readonly of: ConfigKey
}

function ConfigField({ config, isMoved, of: key }: ConfigFieldProps) {
  const shared = {
    name: fieldName(resolveKey(config, key)),
    label: t(`manufacturers.labels.${key}`),
    hint: hintOf(key),
  }
  switch (key) {
    case 'ssl_verify':
      return <VerifyField name={shared.name} isOn={isChecked(config, key)} />
    case 'websocket_other_host':
    case 'auth_header':
      return <TickField {...shared} defaultChecked={isChecked(config, key)} />
    case 'devices':
      return <TextField {...shared} data-private defaultValue={fieldValue(config, key)} spellCheck={false} />
    case 'shared_key':
    case 'password':
    case 'token':
      return <SecretField {...shared} stored={fieldValue(config, key)} isMoved={isMoved} />
    default:
      // An address may contain a password.
      return (
        <Field {...shared} data-private defaultValue={fieldValue(config, key)} autoComplete="off" spellCheck={false} />
      )
  }
}

function VerifyField({ name, isOn: isOnBefore }: { name: string; isOn: boolean }) {
  const [isOn, setOn] = useTickState(name, isOnBefore)
  return (
    <TickField
      name={name}
      label={t('manufacturers.labels.ssl_verify')}
      hint={isOn ? undefined : <span className="not-verified">{t('manufacturers.verifyOff')}</span>}
      checked={isOn}
      onChange={({ target }) => setOn(target.checked)}
    />
  )
}

function hintOf(key: ConfigKey): string | undefined {
  switch (key) {
    case 'api_base_url':
    case 'username':
    case 'timeout':
    case 'poll_interval':
    case 'calls_per_second':
    case 'burst':
    case 'websocket_url':
    case 'auth_header_name':
    case 'fingerprint':
    case 'token':
    case 'devices':
      return t(`manufacturers.hints.${key}`)
    default:
      return undefined
  }
}

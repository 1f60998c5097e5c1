/** What the list says of each manufacturer, and what can be done with it from there. */

import type { ManufacturerBody } from '../../src/model/manufacturer-api.ts'
import { fieldValue, isChecked } from '../../src/model/manufacturer-config.ts'
import { plainText } from '../format.ts'
import type { Column } from '../parts/data-table.tsx'
import { listDeviceErrors, listErrors } from '../source-errors.ts'
import { words } from '../words.ts'

const texts = words.manufacturers

export interface ManufacturerDeeds {
  edit(record: ManufacturerBody): void
  test(record: ManufacturerBody): void
  toggle(record: ManufacturerBody): void
  remove(record: ManufacturerBody): void
}

/** `deeds`: null for somebody who may not. */
export function manufacturerColumns(deeds: ManufacturerDeeds | null): readonly Column<ManufacturerBody>[] {
  const { columns } = texts
  return [
    { key: 'name', title: columns.name, sortBy: ({ name }) => name, cell: (one) => <Named record={one} /> },
    { key: 'status', title: columns.status, sortBy: ({ status }) => status, cell: (one) => <Status record={one} /> },
    { key: 'addresses', title: columns.addresses, cell: (one) => <Addresses record={one} /> },
    { key: 'interval', title: columns.interval, cell: ({ config }) => intervalOf(config) },
    {
      key: 'enabled',
      title: columns.enabled,
      sortBy: isEnabled,
      cell: (one) => <Switch record={one} onToggle={deeds?.toggle} />,
    },
    ...(deeds === null
      ? []
      : [
          { key: 'deeds', title: columns.deeds, cell: (one: ManufacturerBody) => <Deeds record={one} deeds={deeds} /> },
        ]),
  ]
}

export function nameOf({ name, code }: Pick<ManufacturerBody, 'name' | 'code'>): string {
  return plainText(name) || code
}

/** The configuration itself may switch it off as well. */
export function isEnabled({ api_enabled, config }: ManufacturerBody): boolean {
  return api_enabled && config.enabled !== false
}

function intervalOf(config: ManufacturerBody['config']): string {
  const seconds = fieldValue(config, 'poll_interval')
  return seconds === '' ? texts.asSettings : texts.seconds(seconds)
}

function Named({ record }: { record: ManufacturerBody }) {
  const { code, plugin } = record
  return (
    <span className="stacked">
      <bdi>{nameOf(record)}</bdi>
      <small>{code === plugin ? code : `${code} · ${plugin}`}</small>
    </span>
  )
}

const tones = {
  healthy: 'good',
  unknown: 'calm',
  degraded: 'waiting',
  unhealthy: 'bad',
  disabled: 'calm',
  unconfigured: 'calm',
} as const

function Status({ record }: { record: ManufacturerBody }) {
  const { status, secrets_unreadable } = record
  return (
    <span className="stacked">
      <span>
        <span className="tag" data-tone={tones[status]}>
          {texts.statuses[status]}
        </span>
      </span>
      {[...listErrors(record), ...listDeviceErrors(record)].map((sentence) => (
        <small key={sentence}>
          <bdi>{plainText(sentence)}</bdi>
        </small>
      ))}
      {secrets_unreadable ? <small>{texts.unreadable}</small> : null}
    </span>
  )
}

function Addresses({ record: { config } }: { record: ManufacturerBody }) {
  const addresses = [fieldValue(config, 'api_base_url'), ...fieldValue(config, 'devices').split('\n')]
  const shown = addresses.filter((one) => one !== '')
  const isUnverified = !isChecked(config, 'ssl_verify') && shown.some((one) => one.startsWith('https:'))
  return (
    <span className="stacked">
      {shown.length === 0 ? words.parts.unknown : null}
      {shown.map((address) => (
        <bdi key={address}>{plainText(address)}</bdi>
      ))}
      {isUnverified ? (
        <span>
          <span className="tag" data-tone="waiting" title={texts.verifyOff}>
            {texts.notVerified}
          </span>
        </span>
      ) : null}
    </span>
  )
}

function Switch({ record, onToggle }: { record: ManufacturerBody; onToggle: ManufacturerDeeds['toggle'] | undefined }) {
  const isOn = isEnabled(record)
  if (onToggle === undefined) return isOn ? words.parts.filters.yes : words.parts.filters.no
  return (
    <label className="tick">
      <input
        type="checkbox"
        checked={isOn}
        onChange={() => onToggle(record)}
        aria-label={texts.enable.text(nameOf(record))}
      />
      <span aria-hidden="true">{isOn ? words.parts.filters.yes : words.parts.filters.no}</span>
    </label>
  )
}

function Deeds({ record, deeds }: { record: ManufacturerBody; deeds: ManufacturerDeeds }) {
  const name = nameOf(record)
  return (
    <span className="row-actions">
      <button type="button" className="choice" aria-label={texts.test.of(name)} onClick={() => deeds.test(record)}>
        {texts.test.text}
      </button>
      <button type="button" className="choice" aria-label={texts.editOf(name)} onClick={() => deeds.edit(record)}>
        {texts.edit}
      </button>
      <button type="button" className="choice" aria-label={texts.removal.of(name)} onClick={() => deeds.remove(record)}>
        {texts.removal.text}
      </button>
    </span>
  )
}

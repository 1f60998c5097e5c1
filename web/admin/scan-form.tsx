/** Searches a network for devices, through the systems that can. */

import { useState } from 'react'
import type { ScanBody } from '../../src/model/discovery-api.ts'
import type { ManufacturerBody } from '../../src/model/manufacturer-api.ts'
import { pathOf } from '../../src/model/pages.ts'
import { isObject } from '../api.ts'
import { useSurroundings } from '../context.ts'
import { plainText } from '../format.ts'
import { type Column, DataTable } from '../parts/data-table.tsx'
import { Dialog } from '../parts/dialog.tsx'
import { Field, SelectField } from '../parts/field.tsx'
import { Form } from '../parts/form.tsx'
import { words } from '../words.ts'

const texts = words.manufacturers.scan

interface ScanFormProps {
  readonly manufacturers: readonly ManufacturerBody[]
  onClose(): void
}

export function ScanForm({ manufacturers, onClose }: ScanFormProps) {
  const { api } = useSurroundings()
  const [found, setFound] = useState<ScanBody | null>(null)
  const enabled = manufacturers.filter((one) => one.api_enabled)
  const send = (values: FormData) => {
    setFound(null)
    const manufacturer = String(values.get('manufacturer') ?? '')
    const query = manufacturer === '' ? '' : `?${new URLSearchParams({ manufacturer })}`
    const scan_subnet = String(values.get('scan_subnet') ?? '').trim()
    return api.write('POST', `/api/discover/${query}`, { scan_subnet }, isObject<ScanBody>)
  }
  return (
    <Dialog title={texts.text} onClose={onClose}>
      <Form action={texts.action} others={<Close onClose={onClose} />} send={send} onDone={setFound}>
        <Field name="scan_subnet" label={texts.subnet} hint={texts.subnetHint} autoComplete="off" autoFocus={true} />
        <SelectField
          name="manufacturer"
          label={texts.manufacturer}
          options={[
            { value: '', text: texts.all },
            ...enabled.map(({ code, name }) => ({ value: code, text: plainText(name) })),
          ]}
        />
      </Form>
      {found === null ? null : <Found found={found} />}
    </Dialog>
  )
}

function Close({ onClose }: { onClose: () => void }) {
  return (
    <button type="button" className="choice" onClick={onClose}>
      {words.parts.dialog.close}
    </button>
  )
}

type FoundDevice = ScanBody['devices'][number]

const columns: readonly Column<FoundDevice>[] = [
  { key: 'ip', title: texts.columns.ip, cell: ({ ip, address = ip }) => <bdi>{plainText(address)}</bdi> },
  {
    key: 'type',
    title: texts.columns.type,
    cell: ({ device_type, model = device_type }) => <bdi>{plainText(model)}</bdi>,
  },
  { key: 'channels', title: texts.columns.channels, align: 'end', cell: ({ channels }) => channels },
]

/** It speaks for many devices. */
function isSystem({ device_type }: FoundDevice): boolean {
  return device_type === 'system'
}

function Found({ found: { discovered, devices, errors = [] } }: { found: ScanBody }) {
  const { mount } = useSurroundings()
  return (
    <section className="scan-found">
      <p role="status">{texts.found(discovered)}</p>
      {errors.map(({ manufacturer, source, error }) => (
        <p key={`${manufacturer} ${source}`} className="problem">
          {plainText(texts.failed(manufacturer, source, error))}
        </p>
      ))}
      {devices.length === 0 ? null : (
        <DataTable caption={texts.list} columns={columns} rows={devices} idOf={({ ip, address = ip }) => address} />
      )}
      {devices.some((one) => one.address !== undefined && !isSystem(one)) ? <p>{texts.listenHint}</p> : null}
      {devices.some(isSystem) ? <p>{texts.systemHint}</p> : null}
      <p>
        <a href={mount + pathOf('queue')}>{texts.queue}</a>
      </p>
    </section>
  )
}

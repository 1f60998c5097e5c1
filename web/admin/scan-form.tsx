/** Scans a network for devices. */

import { useState } from 'react'
import type { ScanBody } from '../../src/contract/resources/discovery.ts'
import type { ManufacturerBody } from '../../src/contract/resources/manufacturers.ts'
import { pathOf } from '../../src/domain/pages.ts'
import { useServices } from '../context.ts'
import { plainText } from '../format.ts'
import { t } from '../i18n.ts'
import { type Column, DataTable } from '../parts/data-table.tsx'
import { Dialog } from '../parts/dialog.tsx'
import { Field, SelectField } from '../parts/field.tsx'
import { Form } from '../parts/form.tsx'

interface ScanFormProps {
  readonly manufacturers: readonly ManufacturerBody[]
  onClose(): void
}

export function ScanForm({ manufacturers, onClose }: ScanFormProps) {
  const { api } = useServices()
  const [found, setFound] = useState<ScanBody | null>(null)
  const enabled = manufacturers.filter((manufacturer) => manufacturer.api_enabled)
  const send = (values: FormData) => {
    setFound(null)
    const manufacturer = String(values.get('manufacturer') ?? '')
    const scan_subnet = String(values.get('scan_subnet') ?? '').trim()
    const address =
      manufacturer === '' ? '/api/discover/' : (`/api/discover/?${new URLSearchParams({ manufacturer })}` as const)
    return api.write('POST', address, { scan_subnet }, 'object')
  }
  return (
    <Dialog title={t('manufacturers.scan.text')} onClose={onClose}>
      <Form action={t('manufacturers.scan.action')} others={<Close onClose={onClose} />} send={send} onDone={setFound}>
        <Field
          name="scan_subnet"
          label={t('manufacturers.scan.subnet')}
          hint={t('manufacturers.scan.subnetHint')}
          autoComplete="off"
          autoFocus={true}
        />
        <SelectField
          name="manufacturer"
          label={t('manufacturers.scan.manufacturer')}
          options={[
            { value: '', text: t('manufacturers.scan.all') },
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
      {t('parts.dialog.close')}
    </button>
  )
}

type FoundDevice = ScanBody['devices'][number]

const columns: readonly Column<FoundDevice>[] = [
  {
    key: 'ip',
    title: t('manufacturers.scan.columns.ip'),
    cell: ({ ip, address = ip }) => <bdi>{plainText(address)}</bdi>,
  },
  {
    key: 'type',
    title: t('manufacturers.scan.columns.type'),
    cell: ({ device_type, model = device_type }) => <bdi>{plainText(model)}</bdi>,
  },
  { key: 'channels', title: t('manufacturers.scan.columns.channels'), align: 'end', cell: ({ channels }) => channels },
]

/** Whether the found device is a system that manages several devices. */
function isSystem({ device_type }: FoundDevice): boolean {
  return device_type === 'system'
}

function Found({ found: { discovered, devices, errors = [] } }: { found: ScanBody }) {
  const { mount } = useServices()
  return (
    <section className="scan-found">
      <p role="status">{t('manufacturers.scan.found', { count: discovered })}</p>
      {errors.map(({ manufacturer, source, error }) => (
        <p key={`${manufacturer} ${source}`} className="problem">
          {plainText(t('manufacturers.scan.failed', { manufacturer, source, reason: error }))}
        </p>
      ))}
      {devices.length === 0 ? null : (
        <DataTable
          caption={t('manufacturers.scan.list')}
          columns={columns}
          rows={devices}
          idOf={({ ip, address = ip }) => address}
        />
      )}
      {devices.some((device) => device.address !== undefined && !isSystem(device)) ? (
        <p>{t('manufacturers.scan.listenHint')}</p>
      ) : null}
      {devices.some(isSystem) ? <p>{t('manufacturers.scan.systemHint')}</p> : null}
      <p>
        <a href={mount + pathOf('queue')}>{t('manufacturers.scan.queue')}</a>
      </p>
    </section>
  )
}

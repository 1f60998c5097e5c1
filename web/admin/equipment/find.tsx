import { Link } from '@tanstack/react-router'
import { useCallback, useEffect, useRef, useState } from 'react'
import type { ScanBody } from '../../../src/contract/discovery.ts'
import type { ManufacturerBody, PluginBody } from '../../../src/contract/manufacturers.ts'
import type { SlotRecord } from '../../../src/contract/slots.ts'
import { hasNewOrigin } from '../../../src/domain/access/secrets.ts'
import { fieldValue, resolveKey, sharedSecretKeys } from '../../../src/domain/equipment/manufacturer-config.ts'
import { pathOf } from '../../../src/domain/pages.ts'
import type { Api, ApiResponse, Problem } from '../../app/api.ts'
import { useServices } from '../../app/context.ts'
import { plainText } from '../../app/format.ts'
import { t } from '../../app/i18n.ts'
import { useResource } from '../../app/resource.ts'
import { useMay } from '../../app/session.ts'
import { Shell } from '../../app/shell.tsx'
import { Dialog } from '../../parts/dialogs/dialog.tsx'
import { useShowMessage } from '../../parts/dialogs/messages.tsx'
import { ProblemLine } from '../../parts/dialogs/notice.tsx'
import { Empty } from '../../parts/empty.tsx'
import { PasswordField } from '../../parts/forms/field.tsx'
import { Form } from '../../parts/forms/form.tsx'
import { Loaded } from '../../parts/loaded.tsx'
import { type Column, DataTable } from '../../parts/tables/data-table.tsx'
import './equipment.css'
import '../../parts/tables/records.css'
import { parseUrl } from '../../app/address.ts'
import { manufacturersPath } from '../../parts/equipment/manufacturer-names.tsx'
import { AddForm } from './add-form.tsx'
import {
  type AddableDevice,
  ChannelSlots,
  type ChosenSlots,
  type Placed,
  placeChannels,
  useChosenSlots,
  useWaitingSlots,
  WaitingSlots,
} from './channel-slots.tsx'

type FoundDevice = ScanBody['devices'][number]

interface Equipment {
  readonly records: readonly ManufacturerBody[]
  readonly plugins: readonly PluginBody[]
}

export function FindEquipment() {
  const mayScan = useMay('operate')
  return (
    <Shell title={t('shell.pages.find.title')} intro={t('find.intro')}>
      {mayScan ? <Scanner /> : <p className="hint">{t('shell.requires.operator')}</p>}
    </Shell>
  )
}

function Scanner() {
  const networks = useResource('/api/discover/networks/', 'list')
  return <Loaded resource={networks}>{(networks) => <Scan networks={networks} />}</Loaded>
}

function Scan({ networks }: { networks: readonly string[] }) {
  const records = useResource(manufacturersPath, 'list', ['settings', 'source'])
  const plugins = useResource('/api/admin/plugins/', 'list').body ?? []
  const { scan, result, isScanning, problem } = useScan(networks)
  const [text, setText] = useState(networks.join(', '))
  const [system, setSystem] = useState<{ readonly plugin: string; readonly address: string } | null>(null)
  const [addedCount, setAddedCount] = useState(0)
  const mayAdminister = useMay('administer')
  const showMessage = useShowMessage()
  const equipment = { records: records.body ?? [], plugins }
  const finish = (name: string) => {
    setSystem(null)
    setAddedCount((count) => count + 1)
    showMessage({ text: t('manufacturers.added', { name: plainText(name) }) })
    void records.reload()
  }
  return (
    <>
      <form
        className="find-form"
        onSubmit={(event) => {
          event.preventDefault()
          void scan(text.split(/[\s,;]+/).filter((network) => network !== ''))
        }}
      >
        <label className="field">
          <span>{t('find.network')}</span>
          <input
            className="input"
            value={text}
            placeholder="192.168.1.0/24"
            required={true}
            autoComplete="off"
            onChange={(event) => setText(event.target.value)}
          />
        </label>
        <button type="submit" className="choice" data-tone="usual" disabled={isScanning}>
          {isScanning ? t('find.scanning') : t('find.scan')}
        </button>
      </form>
      <p className="hint">{t('find.networkHint')}</p>
      {problem === null ? null : <ProblemLine problem={problem} />}
      {isScanning ? <p role="status">{t('find.progress')}</p> : null}
      {result === null ? null : (
        <Found
          key={result.devices.map(({ address }) => address).join()}
          {...{ result, equipment, mayAdminister }}
          onSystem={setSystem}
          onAdded={records.reload}
        />
      )}
      {mayAdminister && plugins.length > 0 ? (
        <section className="find-address">
          <h2>{t('find.byAddress')}</h2>
          <AddForm key={addedCount} {...equipment} onDone={finish} />
        </section>
      ) : null}
      {system === null ? null : (
        <Dialog title={t('find.byAddress')} onClose={() => setSystem(null)}>
          <AddForm {...equipment} found={system} onDone={finish} />
        </Dialog>
      )}
    </>
  )
}

/** The service allows one scan at a time. */
function useScan(networks: readonly string[]) {
  const { api } = useServices()
  const [result, setResult] = useState<ScanBody | null>(null)
  const [problem, setProblem] = useState<Problem | null>(null)
  const [isScanning, setScanning] = useState(false)
  const isBusy = useRef(false)
  const scan = useCallback(
    async (networks: readonly string[]) => {
      if (isBusy.current || networks.length === 0) return
      isBusy.current = true
      setScanning(true)
      setProblem(null)
      setResult(null)
      let all: ScanBody = { discovered: 0, devices: [] }
      for (const scan_subnet of networks) {
        const response = await api.write('POST', '/api/discover/', { scan_subnet }, 'object')
        if (!response.ok) {
          setProblem(response.problem)
          break
        }
        all = combine(all, response.body)
        setResult(all)
      }
      isBusy.current = false
      setScanning(false)
    },
    [api],
  )
  const isStarted = useRef(false)
  useEffect(() => {
    if (isStarted.current) return
    isStarted.current = true
    void scan(networks)
  }, [scan, networks])
  return { scan, result, problem, isScanning }
}

function combine(a: ScanBody, b: ScanBody): ScanBody {
  const errors = [...(a.errors ?? []), ...(b.errors ?? [])]
  return {
    discovered: a.discovered + b.discovered,
    devices: [...a.devices, ...b.devices],
    ...(errors.length > 0 && { errors }),
  }
}

function isAddable(device: FoundDevice): device is AddableDevice {
  return device.address !== undefined && device.manufacturer !== undefined && !isSystem(device)
}

function isSystem({ device_type }: FoundDevice): boolean {
  return device_type === 'system'
}

interface FoundProps {
  readonly result: ScanBody
  readonly equipment: Equipment
  readonly mayAdminister: boolean
  onSystem(found: { plugin: string; address: string }): void
  onAdded(): Promise<void>
}

function Found({ result: { devices, errors = [] }, equipment, mayAdminister, onSystem, onAdded }: FoundProps) {
  const { api } = useServices()
  const addable = devices.filter(isAddable)
  const waiting = useWaitingSlots()
  const chosenSlots = useChosenSlots(waiting)
  /** Null while the channels wait for their slots. */
  const [placed, setPlaced] = useState<readonly Placed[] | null>([])
  const [selected, setSelected] = useState<ReadonlySet<string>>(() => new Set(addable.map(({ address }) => address)))
  const [addedCount, setAddedCount] = useState<number | null>(null)
  const chosen = addable.filter(({ address }) => selected.has(address))
  const toggle = (address: string) =>
    setSelected((before) => {
      const after = new Set(before)
      if (!after.delete(address)) after.add(address)
      return after
    })
  const secrets = listSecretFields(equipment.records, chosen)
  const findEmpty = (values: FormData): Problem | null => {
    const empty = secrets.find(({ name }) => values.get(name) === '')
    return empty === undefined ? null : { kind: 'refused', field: empty.name, detail: t('parts.form.missing') }
  }
  const add = async (values: FormData) => {
    const entered = secrets.map((input) => ({ ...input, secret: String(values.get(input.name)) }))
    const before = await api.read('/api/receivers/', 'list')
    if (!before.ok) return before
    const response = await addDevices(api, equipment, chosen, entered)
    await onAdded()
    if (response.ok && chosen.some((device) => chosenSlots.listOf(device).length > 0)) {
      setPlaced(null)
      void placeChannels(api, chosen, chosenSlots, new Set(before.body.map(({ id }) => id))).then(setPlaced)
    }
    return response
  }
  const slots = mayAdminister && addedCount === null && waiting.length > 0 ? { waiting, chosen: chosenSlots } : null
  if (devices.length === 0 && errors.length === 0) {
    return (
      <Empty title={t('find.none')}>
        <p>{t('find.noneNext')}</p>
      </Empty>
    )
  }
  return (
    <section className="find-found">
      <p role="status">{t('find.found', { count: devices.length })}</p>
      {errors.map(({ manufacturer, source, error }) => (
        <p key={`${manufacturer} ${source}`} className="problem">
          {plainText(t('find.failed', { manufacturer, source, reason: error }))}
        </p>
      ))}
      {devices.length === 0 ? null : (
        <DataTable
          caption={t('find.list')}
          columns={foundColumns({
            selected,
            toggle,
            slots,
            mayAdminister: mayAdminister && addedCount === null,
            onSystem,
          })}
          rows={devices}
          idOf={({ ip, address = ip }) => address}
        />
      )}
      {slots === null || chosen.length === 0 ? null : <WaitingSlots devices={chosen} {...slots} />}
      {addable.length === 0 ? null : addedCount !== null ? (
        <p role="status">
          {t('find.added', { count: addedCount })} <Link to={pathOf('monitor')}>{t('nav.dashboard')}</Link>
          {placed === null ? ` ${t('find.placing')}` : null}
        </p>
      ) : mayAdminister ? (
        <Form
          action={t('find.add', { count: chosen.length })}
          isDisabled={chosen.length === 0}
          check={findEmpty}
          send={add}
          onDone={() => setAddedCount(chosen.length)}
        >
          {secrets.map(({ name, label }) => (
            <PasswordField
              key={name}
              name={name}
              label={label}
              hint={t('find.secretHint')}
              autoComplete="new-password"
            />
          ))}
        </Form>
      ) : (
        <p className="hint">{t('shell.requires.admin')}</p>
      )}
      {placed?.map(({ address, isPlaced, text }) => (
        <p key={address} role={isPlaced ? 'status' : 'alert'} className={isPlaced ? undefined : 'problem'}>
          {text}
        </p>
      ))}
    </section>
  )
}

interface ColumnOptions extends Pick<FoundProps, 'mayAdminister' | 'onSystem'> {
  readonly selected: ReadonlySet<string>
  /** Null if no slot waits for a receiver. */
  readonly slots: { readonly waiting: readonly SlotRecord[]; readonly chosen: ChosenSlots } | null
  toggle(address: string): void
}

function foundColumns({
  selected,
  toggle,
  slots,
  mayAdminister,
  onSystem,
}: ColumnOptions): readonly Column<FoundDevice>[] {
  return [
    {
      key: 'device',
      title: t('find.columns.device'),
      cell: (device) => {
        const name = plainText(device.model ?? device.device_type)
        if (!isAddable(device) || !mayAdminister) return <bdi>{name}</bdi>
        return (
          <label className="tick">
            <input type="checkbox" checked={selected.has(device.address)} onChange={() => toggle(device.address)} />
            <bdi>{name}</bdi>
          </label>
        )
      },
    },
    {
      key: 'address',
      title: t('find.columns.address'),
      cell: ({ ip, address = ip }) => <bdi>{plainText(address)}</bdi>,
    },
    {
      key: 'manufacturer',
      title: t('find.columns.manufacturer'),
      cell: ({ manufacturer = '' }) => <bdi>{plainText(manufacturer)}</bdi>,
    },
    { key: 'channels', title: t('find.columns.channels'), align: 'end', cell: ({ channels }) => channels },
    {
      key: 'interfaces',
      title: t('find.columns.interfaces'),
      cell: ({ heard_on = [] }) => <bdi>{plainText(heard_on.join(', '))}</bdi>,
    },
    ...(slots === null
      ? []
      : [
          {
            key: 'slots',
            title: t('find.putOn'),
            cell: (device: FoundDevice) =>
              isAddable(device) && selected.has(device.address) ? <ChannelSlots device={device} {...slots} /> : null,
          },
        ]),
    {
      key: 'state',
      title: t('find.columns.state'),
      cell: (device) => {
        const { address, manufacturer } = device
        if (address === undefined || manufacturer === undefined) return t('find.monitored')
        if (!isSystem(device)) return t('find.new')
        if (!mayAdminister) return t('find.system')
        return (
          <button type="button" className="choice" onClick={() => onSystem({ plugin: manufacturer, address })}>
            {t('find.setUp')}
          </button>
        )
      },
    },
  ]
}

interface SecretInput {
  readonly code: string
  readonly key: string
  readonly name: string
  readonly label: string
}

/** Stored secrets are sent to the new devices too, so they must be entered again. */
function listSecretFields(records: readonly ManufacturerBody[], devices: readonly AddableDevice[]): SecretInput[] {
  return records.flatMap(({ code, name: manufacturer, config }) => {
    const added = devices.filter((device) => device.manufacturer === code).map(({ address }) => address)
    if (!hasNewOrigin(config, added, parseUrl)) return []
    const stored = sharedSecretKeys.filter((key) => fieldValue(config, key) !== '')
    return stored.map((name) => {
      const key = resolveKey(config, name)
      const labels = { label: t(`manufacturers.labels.${name}`), manufacturer: plainText(manufacturer) }
      return { code, key, name: `${code}.config.${key}`, label: t('find.secret', labels) }
    })
  })
}

/** Creates missing manufacturers. */
async function addDevices(
  api: Api,
  { records }: Equipment,
  devices: readonly AddableDevice[],
  secrets: readonly (SecretInput & { readonly secret: string })[],
): Promise<ApiResponse<null>> {
  for (const code of new Set(devices.map(({ manufacturer }) => manufacturer))) {
    const addresses = devices.filter(({ manufacturer }) => manufacturer === code).map(({ address }) => address)
    const record = records.find((record) => record.code === code)
    const before = Array.isArray(record?.config.devices) ? record.config.devices : []
    const config = {
      ...Object.fromEntries(secrets.filter((input) => input.code === code).map(({ key, secret }) => [key, secret])),
      devices: [...before, ...addresses.filter((address) => !before.includes(address))],
    }
    const response =
      record === undefined
        ? await api.write('POST', manufacturersPath, { code, plugin: code, config }, 'object')
        : await api.write('PATCH', `${manufacturersPath}${code}/`, { config }, 'object')
    if (!response.ok) {
      const { problem } = response
      return { ok: false, problem: { ...problem, field: problem.field && `${code}.${problem.field}` } }
    }
  }
  return { ok: true, body: null }
}

/** Adds equipment by its address. Its manufacturer and its protocol are detected if they are not entered. */

import { useState } from 'react'
import type { ManufacturerBody, PluginBody } from '../../../src/contract/manufacturers.ts'
import type { Api, ApiResponse, Problem } from '../../app/api.ts'
import { useServices } from '../../app/context.ts'
import { plainText } from '../../app/format.ts'
import { t } from '../../app/i18n.ts'
import { manufacturersPath } from '../../parts/equipment/manufacturer-names.tsx'
import { textIn } from '../../parts/forms/entries.ts'
import { Field, SecretField, SelectField } from '../../parts/forms/field.tsx'
import { Form } from '../../parts/forms/form.tsx'
import { FormButtons, useTrial } from './connection-test.tsx'
import { DetectionResult, detect, type FoundEquipment, useDetection } from './detection.tsx'
import { ConfigFields, isMainKey, isSecretKey, keysFor, typedConfig } from './manufacturer-fields.tsx'
import { withLine } from './manufacturer-form.tsx'

interface AddFormProps {
  readonly records: readonly ManufacturerBody[]
  readonly plugins: readonly PluginBody[]
  readonly found?: { readonly plugin: string; readonly address: string } | undefined
  onDone(name: string): void
}

/** The name of the field, also for errors. */
const addressField = 'config.api_base_url'
/** Without a manufacturer, the other settings are not known yet. */
const keysToDetect = ['api_base_url', 'username', 'password'] as const

export function AddForm({ records, plugins, found, onDone }: AddFormProps) {
  const { api } = useServices()
  const [pluginCode, setPluginCode] = useState(found?.plugin ?? '')
  const detection = useDetection()
  const keys =
    pluginCode === ''
      ? keysToDetect
      : keysFor(
          plugins.find(({ code }) => code === pluginCode),
          {},
        )
  const secretKey = keys.find(isSecretKey)
  const secretField = secretKey && `config.${secretKey}`
  const otherKeys = keys.filter((key) => !isMainKey(key))

  /** Detects what is not entered. */
  const findEquipment = async (values: FormData): Promise<ApiResponse<NewEquipment>> => {
    const others = typedConfig({}, otherKeys, values)
    const address = textIn(values, addressField)
    const password = secretField === undefined ? '' : textIn(values, secretField)
    if (pluginCode === 'micwatch' || pluginCode === 'ingest' || (address === '' && pluginCode !== '')) {
      return {
        ok: true,
        body: { plugin: pluginCode, device: null, hasList: true, config: typedConfig({}, keys, values) },
      }
    }
    const secret = secretKey !== undefined && password !== '' && { [secretKey]: password }
    const entered = { name: textIn(values, 'name'), secret, password, others }
    if (pluginCode !== '' && /^[a-z][a-z0-9+.-]*:\/\//i.test(address)) {
      const kind = /^https?:/i.test(address) ? 'system' : 'device'
      return { ok: true, body: toEquipment({ plugin: pluginCode, kind, address }, entered) }
    }
    if (address === '') return refused(addressField, t('parts.form.missing'))
    const username = textIn(values, 'config.username')
    const request = {
      address,
      ...(pluginCode !== '' && { plugin: pluginCode }),
      ...(username && { username }),
      password,
    }
    const fields = { address: addressField, password: secretField }
    const response = await detect(api, detection, { request, choice: textIn(values, 'choice'), fields })
    return response.ok ? { ok: true, body: toEquipment(response.body, entered) } : response
  }
  const trial = useTrial(async (values) => {
    const resolved = await findEquipment(values)
    if (!resolved.ok) return resolved
    const { plugin, config, hasList } = resolved.body
    return atAddress(api.write('POST', `${manufacturersPath}test`, { plugin, config }, 'object'), hasList)
  })
  const send = async (values: FormData): Promise<ApiResponse<string>> => {
    trial.forget()
    const resolved = await findEquipment(values)
    if (!resolved.ok) return resolved
    const [name, code] = [textIn(values, 'name'), textIn(values, 'code')]
    return store(api, records, resolved.body, { name, code })
  }
  return (
    <Form
      action={t('manufacturers.save')}
      others={<FormButtons trial={trial} keys={keys} />}
      send={send}
      onDone={(name) => {
        detection.forget()
        onDone(name)
      }}
      onChange={(values) => {
        trial.forget()
        detection.keepFor(textIn(values, addressField))
      }}
    >
      <SelectField
        name="plugin"
        label={t('manufacturers.plugin')}
        value={pluginCode}
        onChange={({ target }) => {
          detection.forget()
          setPluginCode(target.value)
        }}
        options={[
          { value: '', text: t('manufacturers.detect.option') },
          ...plugins.map(({ code, name }) => ({ value: code, text: name })),
        ]}
      />
      {keys.includes('api_base_url') ? (
        <Field
          name={addressField}
          label={t('manufacturers.detect.address')}
          hint={t('manufacturers.detect.addressHint')}
          defaultValue={found?.address}
          autoComplete="off"
          spellCheck={false}
        />
      ) : null}
      <DetectionResult detection={detection} plugins={plugins} />
      {secretKey === undefined || secretField === undefined ? null : (
        <SecretField
          name={secretField}
          label={pluginCode === '' ? t('manufacturers.detect.secret') : t(`manufacturers.labels.${secretKey}`)}
          hint={pluginCode === 'micwatch' ? t('manufacturers.hints.token') : t('manufacturers.detect.secretHint')}
          stored=""
          isMoved={false}
        />
      )}
      <details className="advanced">
        <summary>{t('manufacturers.advanced')}</summary>
        <div className="field-columns">
          <Field name="name" label={t('manufacturers.name')} hint={t('manufacturers.nameHint')} maxLength={255} />
          {pluginCode === '' ? null : (
            <Field
              key={pluginCode}
              name="code"
              label={t('manufacturers.code')}
              hint={t('manufacturers.codeHint')}
              defaultValue={freeCode(pluginCode, records)}
              autoComplete="off"
            />
          )}
          <ConfigFields config={{}} isMoved={false} keys={otherKeys} />
        </div>
      </details>
    </Form>
  )
}

function refused(field: string, detail: string): { readonly ok: false; readonly problem: Problem } {
  return { ok: false, problem: { kind: 'refused', field, detail } }
}

interface NewEquipment {
  readonly plugin: string
  /** The entry of an individual device that can join the others of its manufacturer; null for other equipment. */
  readonly device: unknown
  /** True if the configuration contains devices that were entered as a list. */
  readonly hasList: boolean
  /** The configuration of a manufacturer for this equipment alone. */
  readonly config: Readonly<Record<string, unknown>>
  readonly model?: string | null | undefined
}

interface Entered {
  readonly name: string
  readonly password: string
  /** The password under its key of the configuration; false if there is none. */
  readonly secret: Readonly<Record<string, string>> | false
  readonly others: Readonly<Record<string, unknown>>
}

/** A device keeps its password and certificate to itself. A system shares them with its WebSocket. */
function toEquipment(
  { plugin, kind, address, model, fingerprint = null }: FoundEquipment,
  { name, password, secret, others }: Entered,
): NewEquipment {
  const pinned = fingerprint !== null && { fingerprint }
  const listed = Array.isArray(others.devices) ? others.devices : []
  const hasList = listed.length > 0
  if (kind === 'system') {
    return { plugin, model, hasList, device: null, config: { ...others, api_base_url: address, ...secret, ...pinned } }
  }
  const own = /^https?:/.test(address) && password !== '' && { password }
  const details = { ...own, ...pinned, ...(name !== '' && { name }) }
  const device = Object.keys(details).length === 0 ? address : { url: address, ...details }
  const isAlone = Object.keys(others).length > 0
  const config = { ...others, devices: [...listed, device] }
  return { plugin, model, hasList, device: isAlone ? null : device, config }
}

/** Returns the name of what was added. */
async function store(
  api: Api,
  records: readonly ManufacturerBody[],
  { plugin, device, config, model, hasList }: NewEquipment,
  entered: { readonly name: string; readonly code: string },
): Promise<ApiResponse<string>> {
  const usualCode = freeCode(plugin, records)
  const code = entered.code || usualCode
  const record = device === null || code !== usualCode ? undefined : records.find((known) => known.plugin === plugin)
  if (record !== undefined) {
    const before = Array.isArray(record.config.devices) ? record.config.devices : []
    const change = { config: { devices: [...before, device] } }
    const changed = await atAddress(api.write('PATCH', `${manufacturersPath}${record.code}/`, change, 'object'), false)
    return changed.ok ? { ok: true, body: model ?? record.name } : changed
  }
  const name = device === null && entered.name !== '' && { name: entered.name }
  const body = { code, plugin, ...name, config }
  const added = await atAddress(api.write('POST', manufacturersPath, body, 'object'), hasList)
  return added.ok ? { ok: true, body: model ?? plainText(added.body.name) } : added
}

/** Points an error about the added device to its address, unless a list of devices was entered. */
async function atAddress<Body>(pending: Promise<ApiResponse<Body>>, hasList: boolean): Promise<ApiResponse<Body>> {
  const response = await withLine(pending)
  if (response.ok || hasList || response.problem.field !== 'config.devices') return response
  return refused(addressField, response.problem.detail)
}

/** Adds a number if the code is taken. */
function freeCode(plugin: string, records: readonly ManufacturerBody[]): string {
  let code = plugin
  for (let number = 2; records.some((record) => record.code === code); number++) code = `${plugin}-${number}`
  return code
}

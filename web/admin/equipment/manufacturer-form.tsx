import { type MouseEvent, useRef, useState } from 'react'
import type { ConnectionTest, ManufacturerBody, PluginBody } from '../../../src/contract/manufacturers.ts'
import type { ConfigKey } from '../../../src/domain/equipment/manufacturer-config.ts'
import type { ApiResponse, Problem } from '../../app/api.ts'
import { useServices } from '../../app/context.ts'
import { plainText } from '../../app/format.ts'
import { t } from '../../app/i18n.ts'
import { useRequest } from '../../app/resource.ts'
import { Dialog } from '../../parts/dialogs/dialog.tsx'
import { ProblemLine } from '../../parts/dialogs/notice.tsx'
import { manufacturersPath } from '../../parts/equipment/manufacturer-names.tsx'
import { statusText } from '../../parts/equipment/source-status.ts'
import { Field, SelectField } from '../../parts/forms/field.tsx'
import { Form } from '../../parts/forms/form.tsx'
import {
  ConfigFields,
  findMissingSecret,
  isMovedConfig,
  KeptKeys,
  keysFor,
  typedConfig,
} from './manufacturer-fields.tsx'

interface ManufacturerFormProps {
  /** As it was when the form opened; null to add a manufacturer. */
  readonly record: ManufacturerBody | null
  readonly plugins: readonly PluginBody[]
  readonly takenCodes: readonly string[]
  readonly found?: { readonly plugin: string; readonly address: string } | undefined
  onDone(record: ManufacturerBody): void
  onClose(): void
}

export function ManufacturerForm({ record, plugins, takenCodes, found, onDone, onClose }: ManufacturerFormProps) {
  const { api } = useServices()
  const [pluginCode, setPluginCode] = useState(record?.plugin ?? found?.plugin ?? plugins[0]?.code ?? '')
  const plugin = plugins.find(({ code }) => code === pluginCode)
  const config = record?.config ?? {}
  const keys = keysFor(plugin, config)
  const mainKeys = keys.filter((key) => isMainKey(key) || (key === 'devices' && key in config))
  const changeOf = (values: FormData) => typedConfig(config, keys, values)
  const [isMoved, setMoved] = useState(false)
  const check = (values: FormData): Problem | null => {
    const field = findMissingSecret(config, keys, values)
    return field === null ? null : { kind: 'refused', field, detail: t('parts.form.missing') }
  }
  const trial = useTrial(async (values) => {
    const problem = check(values)
    if (problem !== null) return { ok: false, problem }
    const body = { ...(record !== null && { code: record.code }), plugin: pluginCode, config: changeOf(values) }
    return sent(api.write('POST', `${manufacturersPath}test`, body, 'object'))
  })

  const send = (values: FormData): Promise<ApiResponse<ManufacturerBody>> => {
    trial.forget()
    const [name = '', code = ''] = ['name', 'code'].map((item) => String(values.get(item) ?? '').trim())
    const change = changeOf(values)
    if (record === null) {
      const body = { code, plugin: pluginCode, ...(name !== '' && { name }), config: change }
      return sent(api.write('POST', manufacturersPath, body, 'object'))
    }
    const body = {
      ...(name !== record.name && { name }),
      ...(Object.keys(change).length > 0 && { config: change }),
    }
    return sent(api.write('PATCH', `${manufacturersPath}${record.code}/`, body, 'object'))
  }

  return (
    <Dialog
      title={record === null ? t('manufacturers.add') : t('manufacturers.editOf', { name: plainText(record.name) })}
      onClose={onClose}
    >
      {record?.secrets_unreadable ? <p className="not-verified">{t('manufacturers.unreadable')}</p> : null}
      <Form
        key={pluginCode}
        action={t('manufacturers.save')}
        others={<Others trial={trial} keys={keys} onClose={onClose} />}
        check={check}
        send={send}
        onDone={onDone}
        onChange={(values) => {
          trial.forget()
          setMoved(isMovedConfig(config, keys, values))
        }}
      >
        {record === null ? (
          <SelectField
            name="plugin"
            label={t('manufacturers.plugin')}
            value={pluginCode}
            onChange={({ target }) => setPluginCode(target.value)}
            options={plugins.map(({ code, name }) => ({ value: code, text: name }))}
          />
        ) : null}
        <ConfigFields {...{ config, isMoved }} keys={mainKeys} address={found?.address} />
        <details className="advanced">
          <summary>{t('manufacturers.advanced')}</summary>
          <Field
            name="name"
            label={t('manufacturers.name')}
            hint={record === null ? t('manufacturers.nameHint') : undefined}
            defaultValue={record?.name}
            maxLength={255}
          />
          {record === null ? (
            <Field
              name="code"
              label={t('manufacturers.code')}
              hint={t('manufacturers.codeHint')}
              defaultValue={freeCode(pluginCode, takenCodes)}
              autoComplete="off"
            />
          ) : null}
          <ConfigFields {...{ config, isMoved }} keys={keys.filter((key) => !mainKeys.includes(key))} />
          <KeptKeys config={config} keys={keys} />
        </details>
      </Form>
    </Dialog>
  )
}

/** The other fields have defaults that usually suffice. */
function isMainKey(key: ConfigKey): boolean {
  return key === 'api_base_url' || key === 'password' || key === 'shared_key'
}

/** Adds a number if the code is taken. */
function freeCode(plugin: string, taken: readonly string[]): string {
  let code = plugin
  for (let number = 2; taken.includes(code); number++) code = `${plugin}-${number}`
  return code
}

/** Points an error about one device to its line in the list of devices. */
async function sent<Body>(pending: Promise<ApiResponse<Body>>): Promise<ApiResponse<Body>> {
  const response = await pending
  if (response.ok) return response
  const { field, detail } = response.problem
  const [, at] = /^config\.devices\.(\d+)/.exec(field ?? '') ?? []
  if (at === undefined) return response
  const problem: Problem = {
    ...response.problem,
    field: 'config.devices',
    detail: t('manufacturers.line', { line: Number(at) + 1, message: detail }),
  }
  return { ok: false, problem }
}

interface Trial {
  readonly isTesting: boolean
  readonly tested: ConnectionTest | null
  readonly problem: Problem | null
  test(values: FormData): Promise<void>
  /** Discards a test result that no longer matches the form. */
  forget(): void
}

function useTrial(tryOut: (values: FormData) => Promise<ApiResponse<ConnectionTest>>): Trial {
  const { send, isSending, problem, forget } = useRequest()
  const [tested, setTested] = useState<ConnectionTest | null>(null)
  /** Responses to outdated requests are ignored. */
  const turn = useRef(0)
  return {
    isTesting: isSending,
    tested,
    problem,
    async test(values) {
      setTested(null)
      turn.current += 1
      const request = turn.current
      const response = await send(() => tryOut(values))
      if (response?.ok && turn.current === request) setTested(response.body)
    },
    forget() {
      turn.current += 1
      setTested(null)
      forget()
    },
  }
}

function Others({ trial, keys, onClose }: { trial: Trial; keys: readonly ConfigKey[]; onClose: () => void }) {
  const { isTesting, tested, problem } = trial
  const test = ({ currentTarget: { form } }: MouseEvent<HTMLButtonElement>) => {
    if (form !== null) void trial.test(new FormData(form))
  }
  return (
    <>
      <button type="button" className="choice" disabled={isTesting} onClick={test}>
        {isTesting ? t('manufacturers.test.testing') : t('manufacturers.test.action')}
      </button>
      <button type="button" className="choice" onClick={onClose}>
        {t('parts.dialog.cancel')}
      </button>
      {problem === null ? null : <ProblemLine problem={problem} field={labelOf(keys, problem.field)} />}
      {tested === null ? null : (
        <div className="test-unsaved">
          <TestResult tested={tested} />
          <p className="hint">{t('manufacturers.test.notStored')}</p>
        </div>
      )}
    </>
  )
}

function labelOf(keys: readonly ConfigKey[], field: string | undefined): string | undefined {
  const key = keys.find((key) => `config.${key}` === field)
  return key === undefined ? field : t(`manufacturers.labels.${key}`)
}

const tones = { healthy: 'good', degraded: 'waiting', unhealthy: 'bad' } as const

export function TestResult({ tested }: { tested: ConnectionTest }) {
  return (
    <div role="status">
      <ul className="test-result">
        {tested.sources.length === 0 ? <li>{t('manufacturers.test.unconfigured')}</li> : null}
        {tested.sources.map(({ base_url, status, error, devices }) => (
          <li key={base_url}>
            <span className="tag" data-tone={tones[status]}>
              {statusText(status)}
            </span>{' '}
            <bdi>
              {plainText(status === 'healthy' ? responseText(base_url, devices) : (error ?? failureText(base_url)))}
            </bdi>
          </li>
        ))}
      </ul>
    </div>
  )
}

function responseText(address: string, devices: number | null): string {
  return devices === null
    ? t('manufacturers.test.responded', { address })
    : t('manufacturers.test.answered', { address, count: devices })
}

function failureText(address: string): string {
  return t('manufacturers.test.failed', { address })
}

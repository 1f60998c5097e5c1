import { useState } from 'react'
import type { ManufacturerBody, PluginBody } from '../../../src/contract/manufacturers.ts'
import type { ApiResponse, Problem } from '../../app/api.ts'
import { useServices } from '../../app/context.ts'
import { plainText } from '../../app/format.ts'
import { t } from '../../app/i18n.ts'
import { Dialog } from '../../parts/dialogs/dialog.tsx'
import { manufacturersPath } from '../../parts/equipment/manufacturer-names.tsx'
import { changedFields } from '../../parts/forms/entries.ts'
import { Field } from '../../parts/forms/field.tsx'
import { Form } from '../../parts/forms/form.tsx'
import type { Sending } from '../../parts/forms/use-edit.tsx'
import { useLatest } from '../../parts/forms/use-latest.ts'
import { FormButtons, useTrial } from './connection-test.tsx'
import {
  ConfigFields,
  findMissingSecret,
  isMainKey,
  isMovedConfig,
  KeptKeys,
  keysFor,
  typedConfig,
} from './manufacturer-fields.tsx'

interface ManufacturerFormProps {
  /** As it was when the form opened. */
  readonly record: ManufacturerBody
  readonly plugins: readonly PluginBody[]
  onDone(record: ManufacturerBody): void
  onClose(): void
}

export function ManufacturerForm({ record, plugins, onDone, onClose }: ManufacturerFormProps) {
  const { api } = useServices()
  const { code, plugin, config } = record
  const keys = keysFor(
    plugins.find((known) => known.code === plugin),
    config,
  )
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
    const body = { code, plugin, config: changeOf(values) }
    return withLine(api.write('POST', `${manufacturersPath}test`, body, 'object'))
  })

  const latest = useLatest(manufacturersPath, record, ['settings'], 'code')
  const nameOf = (values: FormData) => ({ name: String(values.get('name') ?? '').trim() })
  const send = (
    values: FormData,
    { before, version }: Sending<ManufacturerBody>,
  ): Promise<ApiResponse<ManufacturerBody>> => {
    trial.forget()
    const change = changeOf(values)
    const body = {
      ...changedFields(nameOf(before), nameOf(values)),
      ...(Object.keys(change).length > 0 && { config: change }),
    }
    return withLine(api.write('PATCH', `${manufacturersPath}${code}/`, body, 'object', version))
  }

  return (
    <Dialog title={t('manufacturers.editOf', { name: plainText(record.name) })} onClose={onClose}>
      {record.secrets_unreadable ? <p className="not-verified">{t('manufacturers.unreadable')}</p> : null}
      <Form
        action={t('manufacturers.save')}
        others={<FormButtons trial={trial} keys={keys} />}
        check={check}
        edit={{ address: `${manufacturersPath}${code}/`, record, latest }}
        send={send}
        onDone={onDone}
        onChange={(values) => {
          trial.forget()
          setMoved(isMovedConfig(config, keys, values))
        }}
      >
        {({ name, config }) => (
          <>
            <ConfigFields {...{ config, isMoved }} keys={mainKeys} />
            <details className="advanced">
              <summary>{t('manufacturers.advanced')}</summary>
              <div className="field-columns">
                <Field name="name" label={t('manufacturers.name')} defaultValue={name} maxLength={255} />
                <ConfigFields {...{ config, isMoved }} keys={keys.filter((key) => !mainKeys.includes(key))} />
                <KeptKeys config={config} keys={keys} />
              </div>
            </details>
          </>
        )}
      </Form>
    </Dialog>
  )
}

/** Points an error about one device to its line in the list of devices. */
export async function withLine<Body>(pending: Promise<ApiResponse<Body>>): Promise<ApiResponse<Body>> {
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

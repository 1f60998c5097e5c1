/** The user first chooses the service, then fills in its fields. */

import { type Dispatch, type SetStateAction, useState } from 'react'
import {
  type NotificationChannelType,
  notificationChannelTypes,
  type ServiceFieldKey,
} from '../../src/contract/notification-services.ts'
import type { NotificationChannelBody } from '../../src/contract/notifications.ts'
import type { ApiResponse, Problem } from '../app/api.ts'
import { useServices, useWatchState } from '../app/context.ts'
import { plainText } from '../app/format.ts'
import { t } from '../app/i18n.ts'
import { CancelButton, Dialog, DialogEnd } from '../parts/dialogs/dialog.tsx'
import { useShowMessage } from '../parts/dialogs/messages.tsx'
import { changedFields } from '../parts/forms/entries.ts'
import { Field, SecretField, SelectField, TextField, TickField } from '../parts/forms/field.tsx'
import { useFieldState } from '../parts/forms/field-state.ts'
import { Form } from '../parts/forms/form.tsx'
import type { Sending } from '../parts/forms/use-edit.tsx'
import { useLatest } from '../parts/forms/use-latest.ts'
import { notificationTopics, notifiersPath } from '../parts/notifiers.ts'
import type { NewSecret } from './secret-once.tsx'
import { ServiceIcon } from './service-icon.tsx'
import {
  changedConfig,
  destinationField,
  fieldName,
  fieldsOf,
  fieldText,
  isMovedConfig,
  missingField,
  portFor,
  type Security,
  securities,
} from './services.ts'

interface NotifierFormProps {
  /** As it was when the form opened; null to add a notifier. */
  readonly notifier: NotificationChannelBody | null
  onSecret(secret: NewSecret): void
  onDone(): Promise<void>
  onClose(): void
}

export function NotifierForm({ notifier, ...rest }: NotifierFormProps) {
  const [type, setType] = useState<NotificationChannelType | null>(notifier?.type ?? null)
  if (type === null) return <ServiceChoice onChoice={setType} onClose={rest.onClose} />
  return <ServiceForm key={type} {...{ notifier, type }} {...rest} onBack={notifier === null ? setType : null} />
}

function ServiceChoice({ onChoice, onClose }: { onChoice(type: NotificationChannelType): void; onClose(): void }) {
  return (
    <Dialog title={t('notifications.form.choose')} onClose={onClose}>
      <ul className="service-list">
        {notificationChannelTypes.map((type) => (
          <li key={type}>
            <button type="button" className="service" onClick={() => onChoice(type)}>
              <ServiceIcon type={type} />
              <strong>{t(`notifications.services.${type}.name`)}</strong>
              <span>{t(`notifications.services.${type}.description`)}</span>
            </button>
          </li>
        ))}
      </ul>
      <DialogEnd onClose={onClose} />
    </Dialog>
  )
}

interface ServiceFormProps extends NotifierFormProps {
  readonly type: NotificationChannelType
  readonly onBack: Dispatch<SetStateAction<NotificationChannelType | null>> | null
}

type Stored = NotificationChannelBody & { readonly secret?: string }

function ServiceForm({ notifier, type, onBack, onSecret, onDone, onClose }: ServiceFormProps) {
  const { api } = useServices()
  const showMessage = useShowMessage()
  const service = t(`notifications.services.${type}.name`)
  const config = notifier?.config ?? null
  const [isMoved, setMoved] = useState(false)
  const linkHint = t('notifications.form.acknowledgeLinkHint')
  const hasLinks = useWatchState(({ health }) => health?.public_url !== null)

  const bodyOf = (values: FormData) => ({
    name: String(values.get('name')).trim(),
    without_names: values.get('without_names') !== null,
    acknowledge_link: values.get('acknowledge_link') !== null,
  })
  const latest = useLatest(notifiersPath, notifier, notificationTopics)
  const send = (values: FormData, { record, before, version }: Sending<NotificationChannelBody | null>) => {
    const change = changedConfig(type, config, values)
    if (record === null) {
      const body = { ...bodyOf(values), type, config: change }
      return atField<Stored>(type, api.write('POST', notifiersPath, body, 'object'))
    }
    const body = {
      ...changedFields(bodyOf(before), bodyOf(values)),
      ...(Object.keys(change).length > 0 && { config: change }),
    }
    return atField<Stored>(type, api.write('PATCH', `${notifiersPath}${record.id}/`, body, 'object', version))
  }
  const done = async ({ name, secret }: Stored) => {
    onClose()
    const text = plainText(name)
    if (secret === undefined)
      showMessage({
        text: t(notifier === null ? 'notifications.form.added' : 'notifications.form.saved', { name: text }),
      })
    else onSecret({ name, secret, previousUntil: null })
    await onDone()
  }
  return (
    <Dialog
      title={
        notifier === null
          ? t('notifications.form.add', { service })
          : t('notifications.form.edit', { name: plainText(notifier.name) })
      }
      onClose={onClose}
    >
      <p className="dialog-text">{t(`notifications.services.${type}.intro`)}</p>
      <Form
        action={t('notifications.form.save')}
        check={(values) => findProblem(type, config, values)}
        onChange={(values) => setMoved(isMovedConfig(type, config, values))}
        edit={{ address: `${notifiersPath}${notifier?.id ?? `?${type}`}`, record: notifier, latest }}
        send={send}
        onDone={done}
        others={
          <>
            {onBack === null ? null : (
              <button type="button" className="choice" onClick={() => onBack(null)}>
                {t('notifications.form.back')}
              </button>
            )}
            <CancelButton />
          </>
        }
      >
        {(record) => (
          <>
            <Field
              name="name"
              label={t('notifications.form.name')}
              hint={t('notifications.form.nameHint')}
              defaultValue={record?.name ?? service}
              autoComplete="off"
              maxLength={255}
            />
            <div className="field-columns">
              <ConfigFields {...{ type, isMoved }} config={record?.config ?? null} />
            </div>
            <TickField
              name="without_names"
              label={t('notifications.form.withoutNames')}
              hint={t('notifications.form.withoutNamesHint')}
              defaultChecked={record?.without_names ?? false}
            />
            <TickField
              name="acknowledge_link"
              label={t('notifications.form.acknowledgeLink')}
              hint={hasLinks ? linkHint : `${linkHint} ${t('notifications.form.noPublicUrl')}`}
              defaultChecked={record?.acknowledge_link ?? false}
            />
          </>
        )}
      </Form>
    </Dialog>
  )
}

/** Points an error about the whole destination to the address field. */
async function atField<Body>(
  type: NotificationChannelType,
  pending: Promise<ApiResponse<Body>>,
): Promise<ApiResponse<Body>> {
  const response = await pending
  if (response.ok || response.problem.field !== 'config') return response
  return { ok: false, problem: { ...response.problem, field: destinationField(type) } }
}

function findProblem(
  type: NotificationChannelType,
  config: NotificationChannelBody['config'] | null,
  values: FormData,
): Problem | null {
  const problem = (field: string): Problem => ({ kind: 'refused', field, detail: t('parts.form.missing') })
  if (String(values.get('name')).trim() === '') return problem('name')
  const missing = missingField(type, config, values)
  return missing === null ? null : problem(fieldName(missing.name))
}

interface ConfigFieldsProps {
  readonly type: NotificationChannelType
  readonly config: NotificationChannelBody['config'] | null
  /** See `isMovedConfig`. */
  readonly isMoved: boolean
}

function ConfigFields({ type, config, isMoved }: ConfigFieldsProps) {
  /** The chosen encryption sets its usual port, unless a port was typed. */
  const [security, setSecurity] = useState<Security | null>(null)
  const [typedPort, setTypedPort] = useFieldState(fieldName('port'), '')
  return fieldsOf(type).map((field) => {
    const key = `${type}.${field.name}` as ServiceFieldKey
    const shared = {
      name: fieldName(field.name),
      label: t(`notifications.fields.${key}.label`),
      hint: t(`notifications.fields.${key}.hint`),
      defaultValue: fieldText(field, config),
      required: field.isOptional === undefined,
    }
    const text = { ...shared, autoComplete: 'off', spellCheck: false }
    switch (field.kind) {
      case 'security':
        return (
          <SelectField
            key={key}
            {...shared}
            options={securities.map((value) => ({ value, text: t(`notifications.securities.${value}`) }))}
            onChange={({ target }) => setSecurity(target.value as Security)}
          />
        )
      case 'port': {
        const port = security === null ? shared.defaultValue : portFor(security, shared.defaultValue)
        return (
          <Field
            key={key}
            {...text}
            defaultValue={undefined}
            value={typedPort || port}
            onChange={({ target }) => setTypedPort(target.value)}
            inputMode="numeric"
          />
        )
      }
      case 'list':
        return <TextField key={key} {...text} rows={3} />
      case 'secret': {
        const { defaultValue: stored, ...secret } = shared
        return <SecretField key={key} {...secret} {...{ stored, isMoved }} />
      }
      default:
        // It may contain a password or a token.
        return <Field key={key} {...text} data-private inputMode={field.kind === 'address' ? 'url' : 'text'} />
    }
  })
}

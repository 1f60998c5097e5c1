import { useState } from 'react'
import type { NotificationChannelType, ServiceFieldKey } from '../../src/contract/notification-services.ts'
import type { NotificationChannelBody } from '../../src/contract/notifications.ts'
import { t } from '../app/i18n.ts'
import { Field, SecretField, SelectField, TextField } from '../parts/forms/field.tsx'
import { fieldName, fieldsOf, fieldText, portFor, type Security, securities } from './services.ts'

interface ConfigFieldsProps {
  readonly type: NotificationChannelType
  readonly config: NotificationChannelBody['config'] | null
  /** See `isMovedConfig`. */
  readonly isMoved: boolean
}

export function ConfigFields({ type, config, isMoved }: ConfigFieldsProps) {
  /** The chosen encryption sets its usual port, unless a port was typed. */
  const [security, setSecurity] = useState<Security | null>(null)
  const [typedPort, setTypedPort] = useState<string | null>(null)
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
            value={typedPort ?? port}
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
        return <Field key={key} {...text} inputMode={field.kind === 'address' ? 'url' : 'text'} />
    }
  })
}

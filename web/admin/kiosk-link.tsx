/** Creates a token for a kiosk screen and shows it as a link. */

import { pathOf } from '../../src/domain/pages.ts'
import { useServices } from '../app/context.ts'
import { plainText } from '../app/format.ts'
import { t } from '../app/i18n.ts'
import { useResource } from '../app/resource.ts'
import { serviceNow } from '../app/service-time.ts'
import { Field, SelectField } from '../parts/field.tsx'
import { FormDialog } from '../parts/form-dialog.tsx'
import type { NewToken } from './created-token.tsx'
import { EndFields, endOf, endProblem } from './token-end.tsx'

interface KioskLinkProps {
  onCreated(newToken: NewToken): void
  onDone(): Promise<void>
  onClose(): void
}

export function KioskLink({ onCreated, onDone, onClose }: KioskLinkProps) {
  const { api, mount } = useServices()
  const groups = useResource('/api/groups/', 'list').body ?? []
  const wall = mount + pathOf('wall')
  const shown = [
    { value: wall, text: t('tokens.everything') },
    ...groups.map(({ id, title }) => ({
      value: `${wall}?group=${id}`,
      text: t('tokens.group', { title: plainText(title) }),
    })),
    { value: mount + pathOf('monitor'), text: t('tokens.monitor') },
  ]
  const send = async (values: FormData) => {
    const body = { name: values.get('name'), role: 'viewer', expires_at: endOf(values, serviceNow()) }
    const response = await api.write('POST', '/api/admin/tokens/', body, 'object')
    if (!response.ok) return response
    const { name, token } = response.body
    return { ok: true, body: { name, token, next: String(values.get('next')) } } as const
  }
  const done = async (newToken: NewToken) => {
    onClose()
    onCreated(newToken)
    await onDone()
  }
  return (
    <FormDialog
      title={t('tokens.kiosk')}
      action={t('tokens.createAction')}
      check={(values) => endProblem(values, serviceNow())}
      send={send}
      onDone={done}
      onClose={onClose}
    >
      <p className="hint">{t('tokens.kioskHint')}</p>
      <Field name="name" label={t('tokens.name')} hint={t('tokens.screenHint')} autoComplete="off" maxLength={255} />
      <SelectField name="next" label={t('tokens.shows')} options={shown} />
      <EndFields />
    </FormDialog>
  )
}

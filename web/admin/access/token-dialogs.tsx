import type { TokenBody } from '../../../src/contract/access.ts'
import { pathOf } from '../../../src/domain/pages.ts'
import type { Problem } from '../../app/api.ts'
import { useServices } from '../../app/context.ts'
import { plainText } from '../../app/format.ts'
import { t } from '../../app/i18n.ts'
import { useResource } from '../../app/resource.ts'
import { serviceNow } from '../../app/service-time.ts'
import { Removal } from '../../parts/dialogs/dialog.tsx'
import { FormDialog } from '../../parts/dialogs/form-dialog.tsx'
import { changedFields } from '../../parts/forms/entries.ts'
import { Field, SelectField } from '../../parts/forms/field.tsx'
import { useFieldState } from '../../parts/forms/field-state.ts'
import type { NewToken } from './created-token.tsx'
import { ListenField, permissionsIn, roleOptions } from './person-dialogs.tsx'

const path = '/api/admin/tokens/'

export type TokenQuestion =
  | { readonly kind: 'create' | 'kiosk' }
  | { readonly kind: 'change' | 'revoke'; readonly token: TokenBody }

interface DialogProps {
  onCreated(newToken: NewToken): void
  onDone(): Promise<void>
  onClose(): void
}

export function TokenDialog({ question, ...rest }: DialogProps & { readonly question: TokenQuestion }) {
  switch (question.kind) {
    case 'create':
      return <CreateToken {...rest} />
    case 'kiosk':
      return <KioskLink {...rest} />
    case 'change':
      return <Change token={question.token} {...rest} />
    case 'revoke':
      return <Revoke token={question.token} {...rest} />
    default:
      return question satisfies never
  }
}

type AboutToken = Pick<DialogProps, 'onDone' | 'onClose'> & { readonly token: TokenBody }

function Change({ token, onDone, onClose }: AboutToken) {
  const { api } = useServices()
  const name = plainText(token.name)
  const bodyOf = (values: FormData) => ({
    name: values.get('name'),
    role: values.get('role'),
    permissions: permissionsIn(values),
  })
  return (
    <FormDialog
      title={t('tokens.changeTitle', { name })}
      action={t('tokens.save')}
      check={(values) => endProblem(values, serviceNow())}
      edit={{ address: `${path}${token.id}/`, record: token }}
      send={(values, { before, version }) => {
        const change = { ...changedFields(bodyOf(before), bodyOf(values)), expires_at: endOf(values, serviceNow()) }
        return api.write('PATCH', `${path}${token.id}/`, change, 'object', version)
      }}
      done={() => t('tokens.changed', { name })}
      {...{ onDone, onClose }}
    >
      {(record) => (
        <>
          <Field name="name" label={t('tokens.name')} defaultValue={record.name} autoComplete="off" maxLength={255} />
          <div className="field-columns">
            <SelectField name="role" label={t('tokens.role')} options={roleOptions} defaultValue={record.role} />
            <EndFields keep={true} />
          </div>
          <ListenField permissions={record.permissions} />
        </>
      )}
    </FormDialog>
  )
}

function Revoke({ token, onDone, onClose }: AboutToken) {
  const name = plainText(token.name)
  return (
    <Removal
      title={t('tokens.revokeTitle', { name })}
      action={t('tokens.revoke')}
      done={t('tokens.revoked', { name })}
      path={`${path}${token.id}/`}
      record={token}
      {...{ onDone, onClose }}
    >
      <p>{t('tokens.revokeConsequence')}</p>
    </Removal>
  )
}

function CreateToken({ onCreated, onDone, onClose }: DialogProps) {
  const { api } = useServices()
  const send = (values: FormData) => {
    const body = {
      name: values.get('name'),
      role: values.get('role'),
      permissions: permissionsIn(values),
      expires_at: endOf(values, serviceNow()),
    }
    return api.write('POST', '/api/admin/tokens/', body, 'object')
  }
  const done = async ({ name, token }: NewToken) => {
    onClose()
    onCreated({ name, token })
    await onDone()
  }
  return (
    <FormDialog
      title={t('tokens.create')}
      edit={{ address: path, record: null }}
      action={t('tokens.createAction')}
      check={(values) => endProblem(values, serviceNow())}
      send={send}
      onDone={done}
      onClose={onClose}
    >
      <Field name="name" label={t('tokens.name')} hint={t('tokens.nameHint')} autoComplete="off" maxLength={255} />
      <div className="field-columns">
        <SelectField name="role" label={t('tokens.role')} options={roleOptions} />
        <EndFields />
      </div>
      <ListenField />
    </FormDialog>
  )
}

function KioskLink({ onCreated, onDone, onClose }: DialogProps) {
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
      edit={{ address: `${path}?kiosk`, record: null }}
      action={t('tokens.createAction')}
      check={(values) => endProblem(values, serviceNow())}
      send={send}
      onDone={done}
      onClose={onClose}
    >
      <p className="hint">{t('tokens.kioskHint')}</p>
      <Field name="name" label={t('tokens.name')} hint={t('tokens.screenHint')} autoComplete="off" maxLength={255} />
      <div className="field-columns">
        <SelectField name="next" label={t('tokens.shows')} options={shown} />
        <EndFields />
      </div>
    </FormDialog>
  )
}

const dayMs = 24 * 3_600_000

/** `keep` adds the option to keep the current expiry. */
function EndFields({ keep = false }: { keep?: boolean }) {
  const [choice, setChoice] = useFieldState('ends', keep ? 'keep' : '365')
  const options = (['1', '30', '365', 'never', 'day'] as const).map((value) => ({
    value,
    text: t(`tokens.lifetimes.${value}`),
  }))
  return (
    <>
      <SelectField
        name="ends"
        label={t('tokens.expires')}
        options={keep ? [{ value: 'keep', text: t('tokens.unchanged') }, ...options] : options}
        value={choice}
        onChange={(event) => setChoice(event.target.value)}
      />
      {choice === 'day' ? (
        <Field name="expires_at" label={t('tokens.day')} hint={t('tokens.dayHint')} type="date" />
      ) : null}
    </>
  )
}

/** Undefined keeps the stored expiry, null means no expiry. */
function endOf(values: FormData, now: number): string | null | undefined {
  const ends = String(values.get('ends'))
  if (ends === 'keep') return undefined
  if (ends === 'never') return null
  if (ends !== 'day') return new Date(now + Number(ends) * dayMs).toISOString()
  return new Date(Date.parse(`${values.get('expires_at')}T00:00`) + dayMs).toISOString()
}

function endProblem(values: FormData, now: number): Problem | null {
  if (values.get('ends') !== 'day') return null
  const day = Date.parse(`${values.get('expires_at')}T00:00`)
  // Also false for NaN, an invalid date.
  if (day + dayMs > now) return null
  return { kind: 'refused', field: 'expires_at', detail: t('tokens.dayInvalid') }
}

import { useState } from 'react'
import type { SessionBody, UserBody } from '../../src/contract/access.ts'
import { SignOut } from '../app/account.tsx'
import { useServices } from '../app/context.ts'
import { plainText } from '../app/format.ts'
import { t } from '../app/i18n.ts'
import { useSession } from '../app/session.ts'
import { Shell } from '../app/shell.tsx'
import { Ago } from '../parts/age.tsx'
import '../parts/boxes.css'
import './account.css'
import { useShowMessage } from '../parts/dialogs/messages.tsx'
import { PasswordField } from '../parts/forms/field.tsx'
import { Form, newPasswordProblem } from '../parts/forms/form.tsx'
import { AuthenticatorApp } from './authenticator-app.tsx'
import { OwnSessions } from './own-sessions.tsx'

export function Account() {
  const { api } = useServices()
  const loaded = useSession()
  // After a change on this page.
  const [reloaded, setReloaded] = useState<SessionBody | null>(null)
  const session = reloaded ?? loaded
  const reload = async () => {
    const response = await api.session(true)
    if (response.ok) setReloaded(response.body)
  }
  return (
    <Shell title={t('pages.account')}>
      {session === null ? null : session.user === null ? (
        <p>{t('access.account.noUser')}</p>
      ) : (
        <Person user={session.user} isAppRequired={session.totp_required} onChanged={reload} />
      )}
    </Shell>
  )
}

interface PersonProps {
  readonly user: UserBody
  readonly isAppRequired: boolean
  onChanged(): Promise<void>
}

function Person({ user, isAppRequired, onChanged }: PersonProps) {
  return (
    <>
      <section className="box account-box">
        <dl className="pairs">
          <dt>{t('access.account.signedInAs')}</dt>
          <dd>
            <bdi>{plainText(user.username)}</bdi>
          </dd>
          <dt>{t('access.account.role')}</dt>
          <dd>{t(`shell.roles.${user.role}`)}</dd>
          <dt>{t('access.account.lastLogin')}</dt>
          <dd>
            <Ago at={user.last_login_at} />
          </dd>
        </dl>
        <SignOut />
      </section>
      {user.issuer === null ? (
        <>
          <section className="box account-box">
            <h2>{t('access.totp.title')}</h2>
            <AuthenticatorApp isInUse={user.has_totp} isRequired={isAppRequired} onChanged={onChanged} />
          </section>
          <section className="box account-box">
            <h2>{t('access.account.change')}</h2>
            <PasswordForm username={user.username} />
          </section>
        </>
      ) : (
        <p>{t('access.account.provider', { host: plainText(new URL(user.issuer).host) })}</p>
      )}
      <section className="overview-section">
        <h2>{t('access.sessions.title')}</h2>
        <OwnSessions />
      </section>
    </>
  )
}

function PasswordForm({ username }: { username: string }) {
  const { api } = useServices()
  const showMessage = useShowMessage()
  // Resets the form after a successful change.
  const [round, setRound] = useState(0)
  const send = (values: FormData) => api.write('POST', '/api/auth/password', Object.fromEntries(values), 'object')
  const done = async () => {
    await api.session(true)
    setRound(round + 1)
    showMessage({ text: t('access.account.changed') })
  }
  return (
    <Form
      key={round}
      action={t('access.account.action')}
      check={(values) => newPasswordProblem(values, 'new_password', username)}
      send={send}
      onDone={done}
    >
      <PasswordField name="current_password" label={t('access.account.current')} autoComplete="current-password" />
      <PasswordField
        name="new_password"
        label={t('access.account.next')}
        hint={t('access.setUp.passwordHint')}
        autoComplete="new-password"
      />
    </Form>
  )
}

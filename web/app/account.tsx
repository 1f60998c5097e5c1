import { Link } from '@tanstack/react-router'
import { UserRound } from 'lucide-react'
import { pathOf } from '../../src/domain/pages.ts'
import { useServices } from './context.ts'
import { plainText } from './format.ts'
import { t } from './i18n.ts'
import { signInPath, useRequest } from './resource.ts'
import { useSession } from './session.ts'

export function Account() {
  const { mount } = useServices()
  const session = useSession()
  if (session === null) return null
  if (session.kind !== 'user') {
    return (
      <a className="account-link" href={signInPath(mount)}>
        {t('shell.signIn')}
      </a>
    )
  }
  return (
    <div className="account">
      <Link className="account-link" to={pathOf('account')}>
        <UserRound className="icon" aria-hidden="true" />
        <span className="account-text">
          <bdi className="account-name">{plainText(session.name)}</bdi>{' '}
          <span className="account-role">{t(`shell.roles.${session.role}`)}</span>
        </span>
      </Link>
      <SignOut />
    </div>
  )
}

export function SignOut() {
  const { mount, api } = useServices()
  const { send, isSending, problem } = useRequest()
  const signOut = async () => {
    await send(() => api.write('POST', '/api/auth/logout', undefined, 'nothing'))
    // A failed request does not matter if the user turns out to be signed out anyway.
    const after = await api.session(true)
    if (!after.ok ? after.problem.kind === 'sign_in' : after.body.kind !== 'user') {
      location.assign(`${mount}${pathOf('sign_in')}`)
    }
  }
  return (
    <>
      <button type="button" className="choice sign-out" disabled={isSending} onClick={signOut}>
        {t('shell.signOut')}
      </button>
      {problem === null || problem.kind === 'sign_in' ? null : (
        <span role="alert" className="account-problem">
          {t('shell.signOutFailed', { reason: problem.detail })}
        </span>
      )}
    </>
  )
}

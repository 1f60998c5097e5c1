/** The signed-in user and their role, and the sign-in link or sign-out button. */

import { Link } from '@tanstack/react-router'
import { pathOf } from '../../src/domain/pages.ts'
import { useServices } from '../context.ts'
import { plainText } from '../format.ts'
import { t } from '../i18n.ts'
import { signInPath, useRequest } from '../resource.ts'
import { useSession } from '../session.ts'

export function Account() {
  const { mount, api } = useServices()
  const session = useSession()
  const { send, isSending, problem } = useRequest()
  if (session === null) return null
  if (session.kind !== 'user') {
    return (
      <a className="account-link" href={signInPath(mount)}>
        {t('shell.signIn')}
      </a>
    )
  }
  const signOut = async () => {
    await send(() => api.write('POST', '/api/auth/logout', undefined, 'nothing'))
    // A failed request does not matter if the user turns out to be signed out anyway.
    const after = await api.session(true)
    if (!after.ok ? after.problem.kind === 'sign_in' : after.body.kind !== 'user') {
      location.assign(`${mount}${pathOf('sign_in')}`)
    }
  }
  return (
    <div className="account">
      <Link className="account-link" to={pathOf('account')}>
        <bdi className="account-name">{plainText(session.name)}</bdi>{' '}
        <span className="account-role">{t(`shell.roles.${session.role}`)}</span>
      </Link>
      <button type="button" className="choice" disabled={isSending} onClick={signOut}>
        {t('shell.signOut')}
      </button>
      {problem === null || problem.kind === 'sign_in' ? null : (
        <span role="alert" className="account-problem">
          {t('shell.signOutFailed', { reason: problem.detail })}
        </span>
      )}
    </div>
  )
}

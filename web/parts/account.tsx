/** Who is signed in, with which role, and the way in and out. */

import { pathOf } from '../../src/model/pages.ts'
import { isNothing } from '../api.ts'
import { useSurroundings } from '../context.ts'
import { plainText } from '../format.ts'
import { t } from '../i18n.ts'
import { signInPath, useSending } from '../reading.ts'
import { useSession } from '../session.ts'

export function Account() {
  const { mount, api } = useSurroundings()
  const session = useSession()
  const { send, isSending, problem } = useSending()
  if (session === null) return null
  if (session.kind !== 'user') {
    return (
      <a className="account-link" href={signInPath(mount)}>
        {t('shell.signIn')}
      </a>
    )
  }
  const signOut = async () => {
    await send(() => api.write('POST', '/api/auth/logout', undefined, isNothing))
    // Whoever is signed out already has got what they wanted.
    const after = await api.session(true)
    if (!after.ok ? after.problem.kind === 'sign_in' : after.body.kind !== 'user') {
      location.assign(`${mount}${pathOf('sign_in')}`)
    }
  }
  return (
    <div className="account">
      <a className="account-link" href={`${mount}${pathOf('account')}`}>
        <bdi className="account-name">{plainText(session.name)}</bdi>{' '}
        <span className="account-role">{t(`shell.roles.${session.role}`)}</span>
      </a>
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

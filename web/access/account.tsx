/** One's own account: who, with which role, and the password. */

import { useState } from 'react'
import type { SignedInBody, UserBody } from '../../src/model/people.ts'
import { isObject } from '../api.ts'
import { useSurroundings } from '../context.ts'
import { plainText } from '../format.ts'
import { Ago } from '../parts/ago.tsx'
import { PasswordField } from '../parts/field.tsx'
import { Form } from '../parts/form.tsx'
import { useSay } from '../parts/messages.tsx'
import { Shell } from '../parts/shell.tsx'
import { useSession } from '../session.ts'
import { words } from '../words.ts'
import { newPasswordProblem } from './new-password.ts'

const texts = words.access.account

export function Account() {
  const session = useSession()
  return (
    <Shell page="account" title={texts.title}>
      {session === null ? null : session.user === null ? <p>{texts.noUser}</p> : <Person user={session.user} />}
    </Shell>
  )
}

function Person({ user }: { user: UserBody }) {
  return (
    <>
      <dl className="pairs">
        <dt>{texts.signedInAs}</dt>
        <dd>
          <bdi>{plainText(user.username)}</bdi>
        </dd>
        <dt>{texts.role}</dt>
        <dd>{words.shell.roles[user.role]}</dd>
        <dt>{texts.lastLogin}</dt>
        <dd>
          <Ago at={user.last_login_at} />
        </dd>
      </dl>
      <h2>{texts.change}</h2>
      <PasswordForm username={user.username} />
    </>
  )
}

function PasswordForm({ username }: { username: string }) {
  const { api } = useSurroundings()
  const say = useSay()
  // A form that has done its work is empty again.
  const [round, setRound] = useState(0)
  const send = (values: FormData) =>
    api.write('POST', '/api/auth/password', Object.fromEntries(values), isObject<SignedInBody>)
  const done = async () => {
    await api.session(true)
    setRound(round + 1)
    say({ text: texts.changed })
  }
  return (
    <Form
      key={round}
      action={texts.action}
      check={(values) => newPasswordProblem(values, 'new_password', username)}
      send={send}
      onDone={done}
    >
      <PasswordField name="current_password" label={texts.current} autoComplete="current-password" />
      <PasswordField
        name="new_password"
        label={texts.next}
        hint={words.access.setUp.passwordHint}
        autoComplete="new-password"
      />
    </Form>
  )
}

/** The first administrator. */

import { pathOf } from '../../src/model/pages.ts'
import type { SetupBody, SignedInBody } from '../../src/model/people.ts'
import { isObject } from '../api.ts'
import { useSurroundings } from '../context.ts'
import { Field, PasswordField } from '../parts/field.tsx'
import { Form } from '../parts/form.tsx'
import { Loaded } from '../parts/loaded.tsx'
import { useReading } from '../reading.ts'
import { words } from '../words.ts'
import { enter } from './enter.ts'
import { Entrance } from './entrance.tsx'
import { newPasswordProblem } from './new-password.ts'

const texts = words.access.setUp

export function SetUp() {
  const { mount } = useSurroundings()
  const reading = useReading('/api/auth/setup', isObject<SetupBody>)
  return (
    <Entrance title={texts.title}>
      <Loaded reading={reading}>
        {({ needed, code_needed }) =>
          needed ? (
            <SetUpForm isCodeNeeded={code_needed} />
          ) : (
            <p>
              {texts.done} <a href={mount + pathOf('sign_in')}>{texts.signIn}</a>
            </p>
          )
        }
      </Loaded>
    </Entrance>
  )
}

function SetUpForm({ isCodeNeeded }: { isCodeNeeded: boolean }) {
  const { mount, api } = useSurroundings()
  const send = (values: FormData) => enter<SignedInBody>(api, '/api/auth/setup', Object.fromEntries(values))
  return (
    <>
      <p className="intro">{texts.intro}</p>
      <Form action={texts.action} check={check} send={send} onDone={() => location.replace(mount + pathOf('overview'))}>
        <Field
          name="username"
          label={texts.username}
          hint={texts.usernameHint}
          autoComplete="username"
          autoFocus={true}
        />
        <PasswordField name="password" label={texts.password} hint={texts.passwordHint} autoComplete="new-password" />
        {isCodeNeeded ? <Field name="code" label={texts.code} hint={texts.codeHint} autoComplete="off" /> : null}
      </Form>
    </>
  )
}

const check = (values: FormData) => newPasswordProblem(values, 'password', String(values.get('username') ?? ''))

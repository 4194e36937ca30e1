/** Clusters, clouds and databases: what takes away more than this machine. */
import { type Checks, each, has, optionValue } from './check.js';

export const infrastructure: Checks = {
  ...each('terraform tofu pulumi cdk', ({ args }, scope) => {
    const approved = args.some((arg) => /auto-approve|^--yes$|^-y$|^--force$/.test(arg));
    if (args.includes('destroy') || args.includes('-destroy')) scope.high('Destroys what runs in the cloud.');
    else if (args.includes('apply') && approved)
      scope.medium('Changes what runs in the cloud without asking.');
  }),
  ...each('kubectl oc k3s', ({ args, input }, scope) => {
    const [verb, noun = ''] = args.filter((arg) => !arg.startsWith('-'));
    if (verb === 'delete' && !args.some((arg) => arg.startsWith('--dry-run'))) {
      if (has(args, '', 'all') || /^(?:ns|namespaces?|node|pv|pvc|crd|persistentvolume.*)(?:\/|$)/.test(noun))
        scope.high('Deletes a large part of a cluster.');
      else scope.medium('Deletes objects of a cluster.');
    }
    if (verb === 'drain' || verb === 'cordon') scope.medium('Takes a machine out of a cluster.');
    if (verb === 'get' && /^secrets?(?:\/|$)/.test(noun) && args.some((arg) => /^-o|^--output/.test(arg)))
      scope.high('Prints secrets of a cluster.');
    if (/^(?:create|patch|edit|apply)$/.test(verb ?? '') && args.some((arg) => /cluster-admin/.test(arg)))
      scope.high('Gives all rights in a cluster.');
    if (
      [...args, input.text ?? ''].some((arg) =>
        /["']?\b(?:privileged|hostPID|hostNetwork|hostIPC|hostPath)["']?\s*:/.test(arg),
      )
    )
      scope.high('Starts a container with rights on the machine.');
    if (verb === 'exec' || verb === 'debug' || verb === 'cp')
      scope.medium('Works inside a running part of a cluster.');
  }),
  helm: ({ args }, scope) => {
    if (/^(?:uninstall|delete)$/.test(args[0] ?? '')) scope.medium('Removes an application from a cluster.');
  },
  aws: ({ args }, scope) => {
    const line = args.join(' ');
    if (
      /\bs3 rb\b.*--force|\bs3 rm\b.*--recursive|terminate-instances|delete-(?:db|bucket|stack|table|cluster|user|vpc|volume|snapshot|function|key|file-system|repository|hosted-zone|role|backup|secret|stream|log-group|domain|trail|global)|schedule-key-deletion|stop-logging|delete-objects|\bs3 sync\b.*--delete/.test(
        line,
      )
    )
      scope.high('Deletes what is kept in the cloud.');
    else if (/\bdelete-|\bs3 rm\b/.test(line)) scope.medium('Deletes what is kept in the cloud.');
    if (/sts (?:get-session-token|assume-role)|ecr get-login-password/.test(line))
      scope.medium('Prints credentials of the cloud.');
    if (
      /iam (?:attach|put)-(?:user|role|group)-policy.*(?:Administrator|FullAccess|"\*")|iam (?:add-user-to-group|update-assume-role-policy)|authorize-security-group-ingress.*0\.0\.0\.0\/0/.test(
        line,
      ) ||
      /put-bucket-(?:acl|policy).*public/.test(line)
    )
      scope.high('Gives wide rights in the cloud.');
  },
  ...each('gsutil s3cmd mc rclone azcopy b2', ({ args }, scope) => {
    const words = args.filter((arg) => !arg.startsWith('-'));
    const all = args.some((arg) =>
      /^(?:-[a-zA-Z]*[rRf][a-zA-Z]*|--recursive.*|--force|--delete.*|--del.*)$/.test(arg),
    );
    if (/^(?:rm|rb|del|delete|remove|purge|deletefile|rmdirs)$/.test(words[0] ?? ''))
      scope.findings.add(
        all || words[0] === 'purge' || words[0] === 'rb' ? 'high' : 'medium',
        'Deletes what is kept in the cloud.',
      );
    if (/^(?:rsync|sync|mirror)$/.test(words[0] ?? '') && all)
      scope.medium('Deletes what is kept in the cloud.');
    if (
      /^(?:acl|iam|setacl|policy|anonymous)$/.test(words[0] ?? '') &&
      /public|allUsers/i.test(args.join(' '))
    )
      scope.high('Gives wide rights in the cloud.');
  }),
  ...each(
    'gcloud az doctl heroku flyctl fly vercel hcloud linode-cli oci ibmcloud scw eksctl wrangler netlify',
    ({ args }, scope) => {
      const line = args.join(' ');
      if (/\b(?:delete|destroy|apps:destroy|purge)\b/.test(line))
        scope.findings.add(
          /projects? delete|group delete|destroy|sql|cluster|--quiet|--yes|-y\b|--force/.test(line)
            ? 'high'
            : 'medium',
          'Deletes what is kept in the cloud.',
        );
      if (
        /(?:add-iam-policy-binding|set-iam-policy|role assignment create).*(?:owner|editor|admin|allUsers)/i.test(
          line,
        )
      )
        scope.high('Gives wide rights in the cloud.');
    },
  ),
  ...each('docker podman', ({ args }, scope) => {
    const line = args.join(' ');
    if (/\b(?:system|volume|image|container|builder) prune\b/.test(line))
      scope.medium('Removes what containers have kept.');
    if (
      /\bvolume rm\b/.test(line) ||
      (/\brm\b/.test(line) && args.includes('-f') && line.includes('\0')) ||
      /\bdown\b.*(?:-v|--volumes)\b/.test(line)
    )
      scope.medium('Removes containers or what they have kept.');
    if (args[0] === 'push') scope.medium('Publishes an image.');
    if (args[0] === 'login') scope.medium('Stores a password of a registry.');
  }),
  ...each('docker-compose', ({ args }, scope) => {
    if (args.includes('down') && args.some((arg) => arg === '-v' || arg === '--volumes'))
      scope.medium('Removes what containers have kept.');
  }),
  ...each('psql mysql mariadb sqlite3 mongo mongosh cqlsh sqlcmd', ({ args, input }, scope) => {
    const text = `${args.join(' ')} ${input.text ?? ''}`;
    if (/\bdrop\s+(?:database|schema|user|role)\b|dropDatabase\(\)/i.test(text))
      scope.high('Deletes a database.');
    else if (
      /\bdrop\s+table\b|\btruncate\s+(?:table\s+)?\w|\bdelete\s+from\s+\w+\s*(?:;|"|'|$)|\bdeleteMany\(\{\}\)/i.test(
        text,
      )
    )
      scope.medium('Deletes the data of a table.');
    if (/\\!\s*\S|copy\b.*\bprogram\b|\bsystem\s+\S|sys_exec|into\s+(?:out|dump)file/i.test(text))
      scope.high('Starts a program through a database.');
  }),
  mysqladmin: ({ args }, scope) => {
    if (args.includes('drop')) scope.high('Deletes a database.');
  },
  etcdctl: ({ args }, scope) => {
    if (args.includes('del'))
      scope.findings.add(
        has(args, '', 'prefix', 'from-key') ? 'high' : 'medium',
        'Deletes the state of a cluster.',
      );
  },
  dropdb: (_, scope) => scope.high('Deletes a database.'),
  'redis-cli': ({ args }, scope) => {
    if (args.some((arg) => /^(?:flushall|flushdb)$/i.test(arg)))
      scope.high('Deletes all data of a database.');
    else if (/config set (?:dir|dbfilename)/i.test(args.join(' ')))
      scope.high('Makes a database write to a place of choice.');
  },
  ...each('ansible', ({ args }, scope) => {
    const text = optionValue(args, '-a', '--args') ?? '';
    if (/\brm -rf|\breboot\b|\bshutdown\b/.test(text))
      scope.high('Runs a destructive command on many machines.');
  }),
};

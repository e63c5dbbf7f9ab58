"""Which calls of kubectl are allowed, in every spelling."""

from __future__ import annotations

import shlex

import pytest

from harness.agents.kubectl_rules import SUBCOMMANDS, refuse

ALLOWED = [
    "get labruns",
    "get labruns -A -o yaml",
    "get labruns -n lab-1 -l app=x -w",
    "get labruns -nlab-1 -owide",
    "get labrun x -o jsonpath='{.status.state}'",
    "get labruns -o go-template --template='{{.kind}}'",
    "get --raw /apis/lab.strandline.dev/v1alpha1",
    "create -f -",
    "create -f-",
    "create -f=- --dry-run=server",
    "apply --filename=- --server-side",
    "apply --filename - --field-manager me",
    "apply -Rf -",
    "patch labrun x --type merge -p '{\"spec\":{}}'",
    "delete labrun x --wait=false",
    "wait labrun/x --for=jsonpath={.status.state}=completed --timeout=30s",
    "auth can-i create labruns",
    "auth whoami",
    "explain labruns.spec",
    "version --client",
    "logs pod -p -c main --tail=5",
    "get labruns -v=5",
    "get labruns --v 0",
    "annotate labrun x note-",
    "create clusterrole x --verb=get --resource=labruns",
    "get labruns --server-print=false",
]

REFUSED = {
    "": "found nothing",
    "kubectl get pods": "found 'kubectl'",
    "-n lab get pods": "found '-n'",
    "exec pod -- sh": "found 'exec'",
    "edit labrun x": "found 'edit'",
    "config view --raw": "found 'config'",
    "proxy": "found 'proxy'",
    "auth": "can-i or whoami only",
    "auth reconcile -f -": "can-i or whoami only",
    "apply -n lab edit-last-applied labrun x": "edit-last-applied",
    "get pods --kubeconfig=/root/x": "--kubeconfig",
    "get pods --kubeconfig /root/x": "--kubeconfig",
    "get pods --server=https://x": "--server",
    "get pods -s https://x": "--server",
    "get pods -shttps://x": "--server",
    "get pods -As=https://x": "--server",
    "get pods --token x": "--token",
    "get pods --as=admin": "--as",
    "get pods --as-group=system:masters": "--as-group",
    "get pods --as_group system:masters": "--as-group",
    "get pods --as-user-extra=a=b": "--as-user-extra",
    "get pods --context=x": "--context",
    "get pods --cluster x": "--cluster",
    "get pods --user x": "--user",
    "get pods --client-certificate=x": "--client-certificate",
    "get pods --client_key=x": "--client-key",
    "get pods --certificate-authority=x": "--certificate-authority",
    "get pods --insecure-skip-tls-verify": "--insecure-skip-tls-verify",
    "get pods --tls-server-name=x": "--tls-server-name",
    "get pods --cache-dir=/": "--cache-dir",
    "get pods --profile=cpu": "--profile",
    "get pods --profile-output=/x": "--profile-output",
    "get pods --kuberc=/x": "--kuberc",
    "get pods -v=6": "--v takes 0 to 5, found '6'",
    "get pods -v9": "found '9'",
    "get pods -v 10": "found '10'",
    "get pods --v=99": "found '99'",
    "get pods -v": "found None",
    "create -f file.yaml": "takes '-' only, found 'file.yaml'",
    "create -f=/etc/passwd": "found '/etc/passwd'",
    "create -f/etc/passwd": "found '/etc/passwd'",
    "create -f -,x.yaml": "found '-,x.yaml'",
    "create --filename x": "found 'x'",
    "create -Rf x": "found 'x'",
    "create -f": "found None",
    "create -f - -f https://x/y": "found 'https://x/y'",
    "apply -k .": "--kustomize",
    "apply --kustomize=.": "--kustomize",
    "create configmap x --from-file=/etc/passwd": "--from-file",
    "create configmap x --from-env-file x": "--from-env-file",
    "create secret tls x --cert=a --key=b": "--cert",
    "patch labrun x --patch-file=x": "--patch-file",
    "get pods -o custom-columns-file=x": "--output custom-columns-file",
    "get pods -ojsonpath-file=x": "--output jsonpath-file",
    "get pods --output go-template-file --template=x": "--output go-template-file",
    "get pods -o=templatefile=x": "--output templatefile",
    "create -f - --edit": "--edit",
    "delete labruns --all -i": "--interactive",
    "logs pod -f": "--follow",
    "logs pod --follow": "--follow",
    "get pods -Z": "-Z",
    "get pods -- --token=x": "--token",
}


@pytest.mark.parametrize("command", ALLOWED)
def test_a_call_that_stays_within_the_cluster_is_allowed(command: str) -> None:
    problem = refuse(shlex.split(command))

    assert problem is None


@pytest.mark.parametrize("command", REFUSED)
def test_a_call_that_reaches_beyond_is_refused_and_told_why(command: str) -> None:
    problem = refuse(shlex.split(command))

    assert problem is not None
    assert REFUSED[command] in problem


@pytest.mark.parametrize("subcommand", SUBCOMMANDS)
def test_no_subcommand_may_change_who_asks(subcommand: str) -> None:
    problem = refuse([subcommand, "can-i", "--as=system:admin"])

    assert problem == "--as is not allowed: identity, server and client settings are fixed"

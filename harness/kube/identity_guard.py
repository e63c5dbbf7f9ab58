"""The proof that the cluster that answers is the one that was provisioned.

An address can be answered by another cluster: a context was pointed elsewhere, a port was taken
over. Sweeps take a `ProvenClient`, which only `prove_identity` gives, so that nothing destructive
can be begun without the proof. Called by bench before whatever deletes.
"""

from __future__ import annotations

from typing import Self

from harness.errors import AnotherClusterError
from harness.kube.client import KubeClient


class ProvenClient(KubeClient):
    """A client of a cluster whose identity was proved. Only `prove_identity` makes one.

    Attributes:
        uid: UID of the namespace kube-system, which no two clusters share.
    """

    uid: str = ""

    @classmethod
    def of(cls, client: KubeClient, uid: str) -> Self:
        """Return the same connections as a proven client; for `prove_identity` alone."""
        proven = cls(client._api, headers=client._headers, token_file=client._token_file)  # noqa: SLF001 - a subclass of it
        proven.uid = uid
        return proven

    def prove_again(self) -> None:
        """Do nothing while the same cluster answers; asked just before each destructive step.

        Raises:
            AnotherClusterError: Another one answers.
        """
        found = self.identity()
        if found != self.uid:
            raise AnotherClusterError(expected=self.uid, found=found)


def prove_identity(client: KubeClient, expected_uid: str) -> ProvenClient:
    """Return a client that may sweep, once the cluster has shown that it is the one expected.

    Args:
        client: Acts as the harness.
        expected_uid: UID of kube-system that was kept at provision.

    Raises:
        AnotherClusterError: Another cluster answers; both UIDs are named.
        UnreachableError: None answers.
    """
    proven = ProvenClient.of(client, expected_uid)
    proven.prove_again()
    return proven
